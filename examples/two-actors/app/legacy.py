"""An actor that must read versions from before PEP 440: only packaging 21 and older can."""

from __future__ import annotations

from importlib.metadata import version

from packaging.version import parse


class Reader:
    def read(self, text: str) -> str:
        return f"read {text!r} as a {type(parse(text)).__name__}"


if __name__ == "__main__":
    print(f"packaging {version('packaging')}: {Reader().read('2004d-final')}")
