"""Words for why an environment is what it is."""

from __future__ import annotations

from greenroom.cli.words import count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_diff", "show_log", "show_why"]


def show_why(data: Mapping[str, Any], style: Style) -> str:
    """Return what decides an environment: facts first, then what is in it, then what changed."""
    state = data["state"] + (f": {data['reason']}" if data["reason"] else "")
    facts = [
        ["state", state],
        ["key", data["key"]],
        ["declared", data["declared"]],
        ["source", data["source"]],
        ["python", f"{data['python']}  {data['interpreter']}"],
        ["request", data["request"] or "the driver's"],
    ]
    facts += [["option", option] for option in data["options"]]
    facts += [["build-env", f"{name}={value}"] for name, value in data["variables"].items()]
    if data["shared_with"]:
        facts.append(["shared with", few(data["shared_with"], 1000 if style.verbose else 5)])
    lines = [style.paint(data["name"], "bold"), style.table(facts, {fact: "dim" for fact, _ in facts}), ""]
    lines.append(style.paint(count(len(data["distributions"]), "distribution"), "bold"))
    rows = [
        [made["name"], made["version"] or "", made["kind"], *([made["decides"]] if style.verbose else [])]
        for made in data["distributions"]
    ]
    lines.append(style.table(rows))
    lines += _changes(data, style)
    return "\n".join(lines)


def show_diff(data: Mapping[str, Any], style: Style) -> str:
    """Return how two environments differ."""
    if data["same"]:
        return f"{data['a']['name']} and {data['b']['name']} share {short(data['a']['key'])}"
    if style.quiet:
        return ""
    head = f"{data['a']['name']} {short(data['a']['key'])} → {data['b']['name']} {short(data['b']['key'])}"
    return "\n".join([style.paint(head, "bold"), *(f"  {line}" for line in data["differences"])])


def show_log(data: Mapping[str, Any], style: Style) -> str:
    """Return the log, or its path when that was asked for."""
    del style
    return str(data["path"]) if data["text"] is None else str(data["text"]).rstrip("\n")


def _changes(data: Mapping[str, Any], style: Style) -> list[str]:
    if data["before"] is None:
        return []
    head = style.paint(f"changed since the last sync ({short(data['before'])})", "bold")
    if data["changes"] is None:
        return ["", head, "  the environment of then is not there any more"]
    return ["", head, *(f"  {line}" for line in data["changes"])]
