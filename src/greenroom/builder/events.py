"""What happens during a sync, as facts: never sentences, colours or widths.

Promises: per key the order is queued, (waiting), started, phase/output (and waiting, for a wheel
that another build makes), then exactly one of ready or failed, also after a kill of uv and on
Ctrl-C. Observers run on the caller's thread; an observer that raises stops the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from greenroom.errors import GreenroomError  # noqa: TC001 - types of data are there at run time

__all__ = ["Failed", "Locked", "Note", "Output", "Phase", "Queued", "Ready", "Started", "Waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """An environment is missing and will be built."""

    key: str
    components: tuple[str, ...]
    at: float
    """``time.monotonic()``, seconds; so in every event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Another process holds what this build needs."""

    key: str
    components: tuple[str, ...]
    what: str
    holder: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The build holds its lock and begins."""

    key: str
    components: tuple[str, ...]
    log: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A build enters a phase: ``lock``, ``download``, ``build``, ``install``, ``compile``, ``prove``."""

    key: str
    components: tuple[str, ...]
    phase: str
    detail: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One line of a tool's output, credentials masked."""

    key: str
    line: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The record is written (or was found written by another builder)."""

    key: str
    components: tuple[str, ...]
    path: str
    built: bool
    """False when another process built it meanwhile."""
    seconds: float
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The build ended without an environment."""

    key: str
    components: tuple[str, ...]
    error: GreenroomError
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """A lock of ``greenroom.lock/`` was written, or could not be: the end of a phase ``lock``."""

    components: tuple[str, ...]
    file: str
    error: GreenroomError | None
    seconds: float
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something the user should know once: a copy instead of a link, an ignored setting."""

    key: str
    text: str
    at: float


Event = Queued | Waiting | Started | Phase | Output | Ready | Failed | Locked | Note
Observer = Callable[[Event], None]
