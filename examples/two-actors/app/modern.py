"""An actor that must refuse versions which are not PEP 440: packaging 22 and newer do."""

from __future__ import annotations

from importlib.metadata import version

from packaging.version import InvalidVersion, parse


class Reader:
    def read(self, text: str) -> str:
        try:
            return f"read {text!r} as a {type(parse(text)).__name__}"
        except InvalidVersion as refusal:
            return f"refused {text!r}: {type(refusal).__name__}"


if __name__ == "__main__":
    print(f"packaging {version('packaging')}: {Reader().read('2004d-final')}")
