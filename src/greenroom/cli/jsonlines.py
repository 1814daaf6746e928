"""Print each event as one line of JSON on stdout."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from greenroom.cli import terminal
from greenroom.errors import GreenroomError

if TYPE_CHECKING:
    from greenroom.builder.events import Event
    from greenroom.cli.result import Call
    from greenroom.ray.model import Said

__all__ = ["as_data", "observe"]

SCHEMA = 1


def observe(event: Event | Said, call: Call) -> None:
    """Print one event; whoever reads the lines has it at once."""
    import json
    import sys

    line = {"schema": SCHEMA, "command": call.command, **as_data(event)}
    terminal.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def as_data(event: Event | Said) -> dict[str, Any]:
    """Return an event as JSON data: ``event`` is its kind, in lower case."""
    data: dict[str, Any] = {"event": type(event).__name__.lower()}
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, GreenroomError):
            value = {"kind": type(value).__name__, "message": str(value), "status": value.status}
        data[field.name] = list(value) if isinstance(value, tuple) else value
    return data
