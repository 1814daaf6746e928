"""What the store knows of an environment."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.components import Pairs
from greenroom.recipes.model import Recipe

__all__ = ["Clash", "Fault", "Finding", "Installed", "Record", "State"]

SCHEMA = 1
"""The record's schema: raised when an older greenroom would misread a newer one's records."""
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
class Fault:
    """A row of a package's RECORD that its own wheel contradicts: the package's fault, no damage."""

    distribution: str
    path: str
    """Relative to the environment."""
    size: int
    """Bytes that the wheel really brings."""
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One difference between an environment and what its recipe, RECORDs and record say."""

    kind: str
    """``missing``, ``size``, ``edited``, ``type``, ``absent``, ``unexpected``, ``version``, ``record``,
    ``foreign``, ``config``, ``private``, ``start``, ``base``, ``editable``, ``platform``, ``smoke``."""
    distribution: str | None = None
    path: str | None = None
    """Relative to the environment, or absolute when outside of it."""
    message: str
    """What is wrong, one line, without distribution and path."""
    size: int | None = None
    """Bytes found, for ``size`` and ``edited``."""
    sha256: str | None = None
    """Digest found, for ``size`` and ``edited``."""

    def text(self) -> str:
        """Return one line for people: distribution, path, what is wrong."""
        place = " ".join(part for part in (self.distribution, self.path) if part)
        return f"{place}: {self.message}" if place else self.message


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
    machine: str = ""
    """System, machine type and C library's family, ``linux-x86_64-glibc``; empty: not said."""
    libc: str = ""
    """The lowest version of the C library that its binaries need, ``2.28``; empty: any."""
    faults: tuple[Fault, ...] = ()
    """Rows that the packages' own RECORDs have wrong."""
    added: tuple[str, ...] = ()
    """Files that no distribution owns (``post-install``), relative to the environment."""
    pending: tuple[str, ...] = ()
    """In a partial record: names of the distributions that a later stage brings."""
    metadata: Pairs = ()
    """Editable's name -> digest of its metadata files when it was built in; empty: the source was absent."""


class State:
    """An environment's state, as words for people and JSON."""

    READY = "ready"
    PARTIAL = "partial"
    MISSING = "missing"
    STALE = "stale"
    """The declaration or a lock changed: the component's key cannot be told or is another."""
    DAMAGED = "damaged"
    """A record that cannot be read, a base interpreter gone or replaced, files changed."""
