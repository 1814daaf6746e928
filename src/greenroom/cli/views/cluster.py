"""Words for what the nodes of a Ray cluster say."""

from __future__ import annotations

from greenroom.cli.views.findings import findings
from greenroom.cli.words import count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_ray"]

_LOOKS = {"found": "ready", "built": "ready", "joined": "ready", "repaired": "ready", "fetched": "ready"}


def show_ray(data: Mapping[str, Any], style: Style) -> str:
    """Return a line for each node and environment, what is wrong below it, and the numbers."""
    if data["action"] == "check":
        return "\n".join(_checked(data, style))
    lines = [line for node in data["nodes"] for line in _node(node, style)]
    if style.quiet:
        return "\n".join(lines)
    wanted, nodes = len(data["wanted"]), len(data["nodes"])
    ready = sum(1 for node in data["nodes"] for found in node["environments"] if not found["error"])
    line = f"{count(wanted, 'environment')} on {count(nodes, 'node')}: {ready} of {wanted * nodes} ready"
    return "\n".join([*lines, style.paint(line, "bold")])


def _checked(data: Mapping[str, Any], style: Style) -> Iterator[str]:
    yield from findings(data, [name for one in data["wanted"] for name in one["components"]], style)
    if data["nodes"] and not style.quiet:
        yield f"{count(len(data['wanted']), 'environment')} looked for on {count(len(data['nodes']), 'node')}"


def _node(node: Mapping[str, Any], style: Style) -> Iterator[str]:
    if style.quiet and not node["error"] and not any(found["error"] for found in node["environments"]):
        return
    about = [f"Python {node['python']}", f"ray {node['ray']}"] if node["ray"] else []
    about += [f"greenroom {node['greenroom']}"] if node["greenroom"] else []
    about.append("plugin loaded" if node["plugin"] else "no plugin")
    yield f"{style.paint(node['address'], 'bold')}  {', '.join(about)}"
    if node["error"]:
        yield f"  {style.paint('failed', 'failed')}  {node['error']}"
        return
    for found in node["environments"]:
        word = found["outcome"]
        if found["error"] and word in _LOOKS:
            word = "failed"
        seconds = f"  {found['seconds']:.1f} s" if found["seconds"] >= 1 else ""
        state = style.paint(word.ljust(8), _LOOKS.get(word, word))
        yield f"  {state}  {short(found['key'])}  {few(found['components'])}{seconds}"
        if found["error"]:
            yield f"    {found['error']}"
