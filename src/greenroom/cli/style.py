"""How words for people are to look: colours, aligned columns, and how much is told."""

from __future__ import annotations

import sys

from greenroom.cli import terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.cli.result import Call

__all__ = ["Style"]


class Style:
    """The look that a call asks for, on the stdout that it has."""

    __slots__ = ("by", "colours", "quiet", "verbose")

    def __init__(self, call: Call) -> None:
        self.colours = terminal.coloured(sys.stdout, call.environ)
        self.quiet = call.quiet
        self.verbose = call.verbose
        self.by: str = getattr(call.arguments, "by", "environment")
        """What a line of ``status`` stands for."""

    def paint(self, text: str, kind: str) -> str:
        """Return ``text`` in the colour of a kind."""
        return terminal.paint(text, kind, on=self.colours)

    def table(self, rows: list[list[str]], kinds: Mapping[str, str] | None = None) -> str:
        """Return rows with aligned columns; a first cell that is a kind gets its colour."""
        known = kinds if kinds is not None else {}
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
        lines = []
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            cells[0] = self.paint(cells[0], known.get(row[0], row[0]))
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)
