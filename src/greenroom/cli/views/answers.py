"""Words for what there is: interpreters, components, states."""

from __future__ import annotations

from greenroom.cli.words import count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_list", "show_python", "show_status"]

_ORDER = ("damaged", "stale", "partial", "missing", "ready")
_HINTS = {"missing": "greenroom sync", "stale": "greenroom sync", "damaged": "greenroom sync"}


def show_python(data: Mapping[str, Any], style: Style) -> str:
    """Return the interpreter's path and nothing else."""
    del style
    return str(data["interpreter"])


def show_list(data: Mapping[str, Any], style: Style) -> str:
    """Return a line for each component."""
    rows = [
        [
            found["name"],
            found["kind"],
            _key(found["key"], style) if found["key"] else found["state"],
            found["python"],
        ]
        for found in data["components"]
    ]
    return style.table(rows) if rows else "no component is declared"


def show_status(data: Mapping[str, Any], style: Style) -> str:
    """Return a line for each environment, what is wrong with the rest, and the numbers."""
    if style.quiet:
        return ""
    rows = _by_component(data, style) if style.by == "component" else _by_environment(data, style)
    lines = [style.table(rows)] if rows else []
    seen: dict[tuple[str, str], list[str]] = {}
    for found in data["components"]:
        if found["key"] is None and found["problem"]:
            seen.setdefault((found["state"], found["problem"]), []).append(found["name"])
    lines += [f"{style.paint(state, state)}  {few(names)}\n  {text}" for (state, text), names in seen.items()]
    lines += [f"{style.paint('note', 'dim')} {note}" for note in data["notes"]]
    lines.append(_sum(data, style))
    return "\n".join(lines)


def _by_environment(data: Mapping[str, Any], style: Style) -> list[list[str]]:
    rows = [
        [found["state"], _key(found["key"], style), found["python"], _users(found, style), _reason(found)]
        for found in sorted(data["environments"], key=lambda found: _ORDER.index(found["state"]))
    ]
    drivers = [found["name"] for found in data["components"] if found["state"] == "driver"]
    if drivers:
        rows.append(["driver", "", "", few(drivers, 1000 if style.verbose else 3), ""])
    return rows


def _by_component(data: Mapping[str, Any], style: Style) -> list[list[str]]:
    return [
        [found["state"], found["name"], found["kind"], _key(found["key"], style) if found["key"] else ""]
        for found in data["components"]
    ]


def _sum(data: Mapping[str, Any], style: Style) -> str:
    numbers: dict[str, int] = {}
    for found in data["environments"]:
        numbers[found["state"]] = numbers.get(found["state"], 0) + 1
    untold = sum(1 for found in data["components"] if found["key"] is None and found["problem"])
    total = len(data["environments"])
    words = [f"{numbers[state]} {state}" for state in reversed(_ORDER) if state in numbers]
    line = f"{count(total, 'environment')}: {', '.join(words)}" if words else "no environment"
    if untold:
        line += f"; {count(untold, 'component')} whose environment cannot be told"
    hints = dict.fromkeys(_HINTS[state] for state in _ORDER if state in numbers and state in _HINTS)
    return style.paint(line, "bold") + (f"  ({', '.join(hints)})" if hints else "")


def _key(key: str, style: Style) -> str:
    return key if style.verbose else short(key)


def _users(found: Mapping[str, Any], style: Style) -> str:
    return few(found["components"], 1000 if style.verbose else 3)


def _reason(found: Mapping[str, Any]) -> str:
    return "" if found["state"] in {"ready", "missing"} else str(found["reason"] or "")
