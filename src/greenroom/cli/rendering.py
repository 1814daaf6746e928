"""Show a command's result: for people, or as versioned JSON on stdout. The one place that does."""

from __future__ import annotations

import sys

from greenroom.cli import terminal
from greenroom.cli.style import Style

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    "pack": "moves",
    "unpack": "moves",
    "push": "moves",
    "check": "findings",
    "ray": "cluster",
    "image": "images",
    "up": "servers",
    "ps": "servers",
    "restart": "servers",
    "stop": "servers",
    "down": "servers",
    "wait": "servers",
    "url": "servers",
    "config": "servers",
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


def _print_json(data: dict[str, Any]) -> None:
    import json

    indent = 2 if sys.stdout.isatty() else None
    terminal.write(json.dumps(data, indent=indent) + "\n")
