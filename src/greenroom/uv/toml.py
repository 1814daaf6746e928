"""Write the little TOML that uv's configuration needs."""

from __future__ import annotations

import json

__all__ = ["inline", "key"]


def key(name: str) -> str:
    """Return a key, quoted where a bare one would not do."""
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else _string(name)


def inline(value: object) -> str:
    """Return a value on one line.

    :raises TypeError: TOML has no such value.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        rows = ", ".join(f"{key(name)} = {inline(entry)}" for name, entry in value.items())
        return f"{{ {rows} }}" if rows else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(inline(entry) for entry in value)}]"
    raise TypeError(type(value).__name__)


def _string(text: str) -> str:
    # JSON's strings are TOML's basic strings, but for the one control character that JSON lets pass.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
