"""What is supervised as frozen data: states, rules, what happens and what is decided."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Ask",
    "Exited",
    "Gone",
    "Kill",
    "Launch",
    "Needs",
    "Proven",
    "Refused",
    "Rules",
    "Signal",
    "Spawned",
    "State",
    "Tick",
    "Unit",
    "Watch",
]


class State(StrEnum):
    """Where a process is on its way."""

    WAITING = "waiting"
    """For what it needs."""
    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    """Asked to end."""
    ENDING = "ending"
    """Its first process ended, others of its tree have not yet."""
    BACKOFF = "backoff"
    """It ended, and will be started again."""
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def alive(self) -> bool:
        """Whether it has processes."""
        return self in {State.STARTING, State.READY, State.STOPPING, State.ENDING}

    @property
    def final(self) -> bool:
        """Whether nothing more happens unless it is asked for."""
        return self in {State.STOPPED, State.COMPLETED, State.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a process is supervised."""

    needs: tuple[tuple[str, str], ...] = ()
    """Server -> ``started``, ``ready`` or ``completed``."""
    probed: bool = False
    """Whether readiness must be proven; else a process is ready when it is started."""
    start_period: float = 60
    policy: str = "never"
    limit: int = 10
    backoff: float = 0.5
    stop_signal: int = int(signal.SIGTERM)
    grace: float = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One process of a server, as it is now."""

    name: str
    server: str
    rules: Rules
    state: State = State.STOPPED
    intent: str = "run"
    """What follows its end: ``run`` (the policy decides), ``stop`` or ``restart``."""
    generation: int = 0
    """How often it was launched: an answer to an earlier launch does not count."""
    pid: int | None = None
    deadline: float | None = None
    """When a :class:`Tick` is wanted."""
    started_at: float | None = None
    ready_at: float | None = None
    """When it became ready; None since it is no more."""
    row: int = 0
    """Restarts in a row."""
    restarts: int = 0
    status: int | None = None
    """How its last process ended: the exit status, or minus the signal's number."""
    forced: bool = False
    """Whether SIGKILL was needed at its last end."""
    reason: str = ""
    """Why it is in this state, in words; empty where the state says all."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody wants something: ``start``, ``stop``, ``restart`` or ``kill``."""

    what: str


@dataclass(frozen=True, slots=True)
class Needs:
    """What it needs is there, or never will be."""

    met: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Spawned:
    """Its process runs."""

    pid: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Its process could not be started."""

    reason: str


@dataclass(frozen=True, slots=True)
class Proven:
    """Its probe succeeded."""


@dataclass(frozen=True, slots=True)
class Exited:
    """Its first process ended; ``left`` tells whether others of its tree did not."""

    status: int
    left: bool = False
    again: bool = False
    """Whether the cause was the supervisor's own and is gone: it is launched again, whatever its policy."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The last process of its tree ended."""


@dataclass(frozen=True, slots=True)
class Tick:
    """The clock moved on: its deadline may be over. ``reason`` says what a probe met last."""

    reason: str = ""


Event = Ask | Needs | Spawned | Refused | Proven | Exited | Gone | Tick


@dataclass(frozen=True, slots=True)
class Launch:
    """Start its process."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Begin to prove its readiness."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Send a signal to every process of its tree."""

    number: int


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill every process of its tree, and what comes to it."""


Decision = Launch | Watch | Signal | Kill
