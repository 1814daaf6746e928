"""Words for what was done, or would be."""

from __future__ import annotations

from greenroom.cli.words import count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_lock", "show_plan", "show_sync"]


def show_sync(data: Mapping[str, Any], style: Style) -> str:
    """Return what failed and why, and the numbers."""
    lines = _problems([*data["failed"], *data["problems"]], style)
    if style.quiet:
        return "\n".join(lines)
    words = []
    if data["built"]:
        words.append(f"{len(data['built'])} built")
    if data["fetched"]:
        words.append(f"{len(data['fetched'])} fetched")
    if data["joined"]:
        words.append(f"{len(data['joined'])} built by another process")
    total = sum(len(data[how]) for how in ("ready", "built", "joined", "fetched"))
    if data["ready"] and words:
        words.append(f"{len(data['ready'])} there already")
    line = style.paint(f"{count(total, 'environment')} ready", "ready" if total else "bold")
    line += f": {', '.join(words)}" if words else ""
    if data["locked"]:
        line += f"; {count(len(data['locked']), 'lock')} written"
    if lines:
        failed = sum(len(problem["components"]) for problem in (*data["failed"], *data["problems"]))
        line += "; " + style.paint(f"{count(failed, 'component')} not ready", "failed")
    return "\n".join([*lines, line])


def show_lock(data: Mapping[str, Any], style: Style) -> str:
    """Return which locks were written or are out of date."""
    lines = _problems(data["problems"], style)
    lines += [f"{lock['component']}: {lock['file']}: {lock['reason']}" for lock in data["outdated"]]
    if not style.quiet:
        lines += data["written"]
    return "\n".join(lines) or ("" if style.quiet else "every lock is up to date")


def show_plan(data: Mapping[str, Any], style: Style) -> str:
    """Return what a sync would do, environment by environment."""
    lines = [
        f"{style.paint('lock   ', 'missing')}  {lock['component']}  {lock['file']} ({lock['reason']})"
        for lock in data["lock"]
    ]
    rows = [
        [
            "ready" if found["state"] == "ready" else "build",
            found["key"] if style.verbose else short(found["key"]),
            f"Python {found['python']}",
            _content(found, style),
            few(found["components"], 1000 if style.verbose else 3),
        ]
        for found in data["environments"]
    ]
    if data["drivers"]:
        rows.append(["driver", "", f"Python {data['driver']['python']}", "", few(data["drivers"])])
    if rows:
        lines.append(style.table(rows, {"build": "missing"}))
    lines += _problems(data["problems"], style)
    lines += [f"{style.paint('note', 'dim')} {note}" for note in data["notes"]]
    builds = sum(1 for found in data["environments"] if found["state"] != "ready")
    words = [f"{count(builds, 'environment')} to build in {data['store']}"]
    if data["lock"]:
        words.append(f"{count(len(data['lock']), 'lock')} to write first")
    lines.append(style.paint("; ".join(words), "bold"))
    return "\n".join(lines)


def _content(found: Mapping[str, Any], style: Style) -> str:
    """Return the distributions by name when they are few, else their number."""
    made = [f"{name} {version}" if version else name for name, version in found["distributions"]]
    return ", ".join(made) if style.verbose or len(made) <= 3 else count(len(made), "distribution")


def _problems(problems: list[dict[str, Any]], style: Style) -> list[str]:
    return [f"{style.paint('failed', 'failed')}  {_told(problem)}" for problem in problems]


def _told(problem: Mapping[str, Any]) -> str:
    """Return whom a problem concerns and what it is; a message that names the one says enough."""
    names, message = problem["components"], problem["message"]
    return str(message) if len(names) == 1 and names[0] in message else f"{few(names)}\n        {message}"
