"""Words for what a preflight found."""

from __future__ import annotations

from greenroom.cli.words import count, few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["findings", "show_check"]

_LOOKS = {"error": "failed", "warning": "missing", "note": "dim"}
_INDENT = " " * 9


def show_check(data: Mapping[str, Any], style: Style) -> str:
    """Return each finding with its components, and the numbers; ``--quiet`` leaves notes out."""
    return "\n".join(findings(data, data["components"], style))


def findings(data: Mapping[str, Any], components: Sequence[str], style: Style) -> list[str]:
    """Return the lines of some findings and of their numbers.

    :param data: with ``findings`` and ``numbers``.
    :param components: all that have an environment.
    """
    shown = [found for found in data["findings"] if not style.quiet or found["severity"] != "note"]
    lines = [line for found in shown for line in _finding(found, len(components), style)]
    if style.quiet:
        return lines
    numbers = data["numbers"]
    words = [
        count(numbers[severity], severity) for severity in ("error", "warning", "note") if numbers[severity]
    ]
    return [*lines, style.paint(", ".join(words) or "nothing to say: all is well", "bold")]


def _finding(found: Mapping[str, Any], total: int, style: Style) -> list[str]:
    kind = style.paint(found["severity"].ljust(7), _LOOKS[found["severity"]])
    lines = [f"{kind}  {found['check']}: {found['what']}"]
    if found["where"]:
        lines.append(f"{_INDENT}at {found['where']}")
    if found["components"]:
        lines.append(f"{_INDENT}for {_users(found['components'], total, style)}")
    if found["todo"]:
        lines.append(f"{_INDENT}→ {found['todo']}")
    return lines


def _users(names: list[str], total: int, style: Style) -> str:
    if style.verbose:
        return ", ".join(names)
    if len(names) > 2 and len(names) == total:
        return f"all {total} components that have an environment"
    return few(names, 2)
