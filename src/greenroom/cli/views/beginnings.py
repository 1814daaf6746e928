"""Words for what one needs once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from greenroom.cli.style import Style

__all__ = ["show_completion", "show_init", "show_schema"]


def show_init(data: Mapping[str, Any], style: Style) -> str:
    """Return what was decided, and where it was written; the text itself on a dry run."""
    if not data["written"]:
        return str(data["text"]).rstrip("\n")
    if style.quiet:
        return ""
    return "\n".join([f"wrote {data['file']}", *(f"  {line}" for line in data["decisions"])])


def show_schema(data: Mapping[str, Any], style: Style) -> str:
    """Return the schema as JSON."""
    del style
    import json  # only here

    return json.dumps(data, indent=2, ensure_ascii=False)


def show_completion(data: Mapping[str, Any], style: Style) -> str:
    """Return the shell's code."""
    del style
    return str(data["code"]).rstrip("\n")
