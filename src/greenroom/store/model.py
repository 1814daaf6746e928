"""What the store knows of an environment."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.recipes.model import Recipe

RECORD = "greenroom.json"
"""The record's file name inside the environment: its presence is the commit."""
PARTIAL = "greenroom.partial.json"
"""The partial record of an image's unfinished environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One distribution as the proof found it."""

    name: str
    version: str
    record: str
    """sha256 of its RECORD file."""
    wheel: str | None
    """sha256 of the wheel it came from; None for editables."""
    files: int
    size: int
    """Bytes of its rows on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """One path that several distributions own with different content."""

    path: str
    owners: tuple[str, ...]
    winner: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The commit of an environment: what it holds, how it was proven, when and by what."""

    schema: int
    key: str
    recipe: Recipe
    installed: tuple[Installed, ...]
    clashes: tuple[Clash, ...]
    base: tuple[str, int, int, int]
    """The base interpreter: path, inode, size, mtime (ns)."""
    built_at: float
    """Seconds since the epoch."""
    seconds: float
    """Duration of the build."""
    host: str
    uv: str
    """uv's version."""
    greenroom: str
    log: str
    """File name of the build's log in the store."""
    linked: int = 0
    """Files that were linked, not copied."""
    copied: int = 0
    smoke: tuple[str, ...] = ()


class State:
    """An environment's state, as words for people and JSON."""

    READY = "ready"
    PARTIAL = "partial"
    MISSING = "missing"
    STALE = "stale"
    """The declaration or a lock changed: the component's key cannot be told or is another."""
    DAMAGED = "damaged"
    """A record that cannot be read, a base interpreter gone or replaced, files changed."""
