"""Cut a program's output into lines, whatever it writes."""

from __future__ import annotations

import codecs
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lines"]

_END = re.compile(r"\r\n|\n|\r")
_LONGEST = 1 << 16
"""Characters after which a line without an end is handed over in pieces."""
# Colours and cursor movements (ECMA-48), and control characters that a terminal would obey.
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


class Lines:
    r"""Bytes in, lines out: any bytes, any length, ``\n``, ``\r\n`` and ``\r`` as ends.

    A progress bar's carriage returns make lines of their own. Terminal controls are removed.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open = ""

    def feed(self, block: bytes) -> Iterator[str]:
        """Yield the lines that ``block`` completes."""
        text = self._open + self._decoder.decode(block)
        # A carriage return at the very end may be half of "\r\n".
        held = "\r" if text.endswith("\r") else ""
        *whole, self._open = _END.split(text[: len(text) - len(held)])
        self._open += held
        for line in whole:
            yield from _pieces(line)
        while len(self._open) > _LONGEST:
            piece, self._open = self._open[:_LONGEST], self._open[_LONGEST:]
            yield _clean(piece)

    def rest(self) -> Iterator[str]:
        """Yield the last line, when it has no end."""
        text = self._open + self._decoder.decode(b"", final=True)
        self._open = ""
        for line in _END.split(text):
            if line:
                yield from _pieces(line)


def _pieces(line: str) -> Iterator[str]:
    for start in range(0, len(line) or 1, _LONGEST):
        yield _clean(line[start : start + _LONGEST])


def _clean(line: str) -> str:
    return _CONTROL.sub("", line).rstrip()
