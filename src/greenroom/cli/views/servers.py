"""Words for servers."""

from __future__ import annotations

import time

from greenroom.cli.words import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = [
    "show_config",
    "show_down",
    "show_ps",
    "show_restart",
    "show_stop",
    "show_up",
    "show_url",
    "show_wait",
]

_KINDS = {"lost": "failed", "backoff": "stale", "waiting": "stale", "starting": "stale"}


def show_ps(data: Mapping[str, Any], style: Style) -> str:
    """Return a line for each process."""
    units = data["units"]
    if not units:
        return "" if style.quiet else "no servers are running"
    rows = [
        [
            unit["state"],
            unit["name"],
            str(unit["pid"] or ""),
            _age(unit),
            _restarts(unit),
            unit["url"] or "",
            _why(unit),
        ]
        for unit in units
    ]
    return style.table(rows, _KINDS)


def show_up(data: Mapping[str, Any], style: Style) -> str:
    """Return the numbers."""
    if style.quiet or not data["units"]:
        return ""
    states: dict[str, int] = {}
    for unit in data["units"]:
        states[unit["state"]] = states.get(unit["state"], 0) + 1
    words = ", ".join(f"{number} {state}" for state, number in states.items())
    return f"{count(len(data['units']), 'server')}: {words}"


def show_stop(data: Mapping[str, Any], style: Style) -> str:
    """Return what became of each process."""
    lines = [f"{unit['name']}: {unit['state']}{_end(unit)}" for unit in data["units"]]
    return "" if style.quiet else "\n".join(lines)


def show_down(data: Mapping[str, Any], style: Style) -> str:
    """Return which processes had to be killed, and the numbers."""
    if style.quiet:
        return ""
    if not data["units"]:
        return "no servers are running"
    lines = [f"{unit['name']}: {unit['state']}{_end(unit)}" for unit in data["units"] if unit["forced"]]
    return "\n".join([*lines, f"{count(len(data['units']), 'server')} down"])


def show_restart(data: Mapping[str, Any], style: Style) -> str:
    """Return the state of each process."""
    lines = [
        f"{unit['name']}: {style.paint(unit['state'], unit['state'])} {_why(unit)}".rstrip()
        for unit in data["units"]
    ]
    return "" if style.quiet else "\n".join(lines)


show_wait = show_restart


def show_url(data: Mapping[str, Any], style: Style) -> str:
    """Return the URL and nothing else."""
    del style
    return str(data["url"])


def show_config(data: Mapping[str, Any], style: Style) -> str:
    """Return a paragraph for each server."""
    parts = []
    for server in data["servers"]:
        lines = [style.paint(server["name"], "bold")]
        said = {
            "directory": server["directory"],
            "command": " ".join(server["command"]) or "python app.py or main.py, whichever is there",
            "listens": f"{server['host']}:{server['port'] or 'a free port'} (socket {server['socket']})",
            "ready": server["ready"],
            "needs": ", ".join(f"{name} {condition}" for name, condition in server["needs"].items()),
            "variables": ", ".join(server["variables"]),
            "restart": server["restart"],
            "replicas": "" if server["replicas"] == 1 else str(server["replicas"]),
            "tags": ", ".join(server["tags"]),
            "interpreter": server["interpreter"] or "not ready",
        }
        lines += [f"  {name:<12}{value}" for name, value in said.items() if value]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _end(unit: Mapping[str, Any]) -> str:
    if unit["forced"]:
        return ", killed after its grace"
    return f", {unit['ended']}" if unit["ended"] and unit["status"] else ""


def _age(unit: Mapping[str, Any]) -> str:
    if unit["since"] is None or unit["pid"] is None:
        return ""
    seconds = max(0, int(time.time() - unit["since"]))
    days, seconds = divmod(seconds, 86_400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    found = [(days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s")]
    shown = [f"{number}{letter}" for number, letter in found if number][:2]
    return " ".join(shown) or "0s"


def _restarts(unit: Mapping[str, Any]) -> str:
    return count(unit["restarts"], "restart") if unit["restarts"] else ""


def _why(unit: Mapping[str, Any]) -> str:
    if unit["reason"]:
        return str(unit["reason"])
    return str(unit["ended"] or "") if unit["state"] in {"completed", "failed"} and unit["status"] else ""
