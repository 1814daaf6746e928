"""Show a command's result: for people, or as versioned JSON on stdout. The one place that does."""

from __future__ import annotations

import os
import sys

from greenroom.cli import terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.result import Call, Result
    from greenroom.errors import GreenroomError

__all__ = ["show", "show_error"]

SCHEMA = 1
"""Of the JSON envelope: raised when a key changes its meaning or goes; added keys do not raise it."""

_VIEWS = {
    "python": "answers",
    "list": "answers",
    "status": "answers",
    "sync": "reports",
    "lock": "reports",
    "plan": "reports",
    "why": "explanations",
    "diff": "explanations",
    "log": "explanations",
    "verify": "upkeep",
    "edit": "upkeep",
    "gc": "upkeep",
    "check": "findings",
    "init": "beginnings",
    "schema": "beginnings",
    "completion": "beginnings",
}
"""Command -> the module of :mod:`greenroom.cli.views` that words its result for people."""


def show(result: Result, call: Call) -> None:
    """Show a result in the form that was asked for."""
    if call.json:
        _print_json({"schema": SCHEMA, "command": result.command, "data": result.data})
        return
    from importlib import import_module

    view = import_module(f"greenroom.cli.views.{_VIEWS[result.command]}")
    style = Style(call)
    text = getattr(view, f"show_{result.command}")(result.data, style)
    if text:
        terminal.write(f"{text}\n")


def show_error(error: GreenroomError, command: str | None) -> None:
    """Print an error as JSON; its lines for people go to stderr beside it."""
    errors = getattr(error, "errors", (error,))
    data = {
        "kind": type(error).__name__,
        "message": str(error),
        "status": error.status,
        "errors": [{"kind": type(each).__name__, "message": str(each)} for each in errors],
    }
    _print_json({"schema": SCHEMA, "command": command, "error": data})


class Style:
    """How the words are to look: colours, and how much is told."""

    __slots__ = ("colours", "quiet", "verbose")

    def __init__(self, call: Call) -> None:
        self.colours = terminal.coloured(sys.stdout, call.environ)
        self.quiet = call.quiet
        self.verbose = call.verbose

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


def _print_json(data: dict[str, Any]) -> None:
    import json

    indent = 2 if sys.stdout.isatty() and not os.environ.get("GREENROOM_JSON_COMPACT") else None
    terminal.write(json.dumps(data, indent=indent) + "\n")
