"""Words for what was packed, unpacked and put somewhere."""

from __future__ import annotations

from greenroom.cli.words import amount, count, few, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_pack", "show_push", "show_unpack"]


def show_pack(data: Mapping[str, Any], style: Style) -> str:
    """Return the file, with what is in it and what is not."""
    if style.quiet:
        return str(data["file"])
    line = f"{count(data['files'], 'file')}, {amount(data['size'])}, packed {amount(data['packed'])}"
    lines = [str(data["file"]), f"  {line}"]
    lines += [f"  not in it, and needed at the same place: {path}" for path in data["sources"]]
    return "\n".join(lines)


def show_unpack(data: Mapping[str, Any], style: Style) -> str:
    """Return the environment's path, with where it came from."""
    if style.quiet:
        return str(data["path"])
    words = f"{count(data['files'], 'file')}, {amount(data['size'])}, built on {data['host']}"
    end = "there already" if data["found"] else f"unpacked in {data['seconds']:.1f} s"
    return f"{data['path']}\n  {style.paint('ready', 'ready')}, {end}: {words}"


def show_push(data: Mapping[str, Any], style: Style) -> str:
    """Return one line for each environment, and the numbers."""
    lines, done = [], 0
    for found in data["environments"]:
        if found["error"] is not None:
            lines.append(f"{style.paint('failed', 'failed')}  {few(found['components'])}: {found['error']}")
            continue
        done += 1
        if not style.quiet:
            said = f"{few(found['components'])}, {amount(found['packed'])}"
            lines.append(f"{found['url'] if style.verbose else short(found['key'])}  {said}")
    failed = style.paint("failed", "failed")
    lines += [f"{failed}  {few(problem['components'])}: {problem['message']}" for problem in data["problems"]]
    if not style.quiet:
        lines.append(style.paint(f"{count(done, 'environment')} pushed", "bold"))
    return "\n".join(lines)
