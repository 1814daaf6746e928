"""Tell the name of an environment's content: short enough for any path, the same everywhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.recipes.model import Build, Python, Recipe

__all__ = ["canonical", "key", "wheel_key"]

SCHEMA = 1
"""Raised when the serialization or its meaning changes: every key is then another one."""


def canonical(value: object) -> object:
    """Return plain JSON data of frozen data: a tagged object for each class, lists for tuples.

    :raises TypeError: the value holds something that has no canonical form.
    """
    from dataclasses import fields, is_dataclass  # noqa: PLC0415 - heavy; not on the no-op road

    if is_dataclass(value) and not isinstance(value, type):
        table = {field.name: canonical(getattr(value, field.name)) for field in fields(value)}
        return {"": type(value).__name__, **table}
    if isinstance(value, tuple):
        return [canonical(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    msg = f"no canonical form for {type(value).__name__}"
    raise TypeError(msg)


def key(recipe: Recipe) -> str:
    """Return the environment's key: ``<abi>-<24 lower-case base32 characters>``."""
    return f"{recipe.python.abi}-{_digest('environment', recipe)}"


def wheel_key(build: Build, python: Python) -> str:
    """Return the name of a built wheel's inputs in the store: ``<abi>-<24 base32 characters>``."""
    return f"{python.abi}-{_digest('wheel', (build, python))}"


def _digest(kind: str, value: object) -> str:
    from base64 import b32encode  # noqa: PLC0415 - not on the no-op road
    from hashlib import sha256  # noqa: PLC0415
    from json import dumps  # noqa: PLC0415

    text = dumps([SCHEMA, kind, canonical(value)], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return b32encode(sha256(text.encode("ascii")).digest()).decode("ascii").lower()[:24]
