"""What one process of a server is going through: events in, decisions out, nothing else.

A pure state machine: it starts no process, reads no clock and keeps no secret state, so that every
history can be replayed in a test. Times are seconds of one monotonic clock that the caller reads.
"""

from __future__ import annotations

import signal
from dataclasses import replace

from greenroom.servers.model import (
    Ask,
    Decision,
    Event,
    Exited,
    Gone,
    Kill,
    Launch,
    Needs,
    Proven,
    Refused,
    Signal,
    Spawned,
    State,
    Tick,
    Unit,
    Watch,
)

__all__ = ["ended", "step"]

_LONGEST = 60.0
"""Seconds: no pause before a restart is longer."""
_SETTLED = 30.0
"""Seconds of readiness after which earlier restarts are forgotten."""

_Step = tuple[Unit, tuple[Decision, ...]]


def ended(status: int) -> str:
    """Return how a process ended, in words."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was killed by {name}"


def step(unit: Unit, event: Event, now: float) -> _Step:  # noqa: PLR0911 - one for each event
    """Return what a unit becomes by an event, and what is to be done.

    An event that means nothing in the unit's state changes nothing.
    """
    match event:
        case Ask():
            return _ask(unit, event.what, now)
        case Needs() if unit.state is State.WAITING:
            return _launch(unit, now) if event.met else _end(unit, State.FAILED, event.reason)
        case Spawned() if unit.state.alive:
            return _spawned(replace(unit, pid=event.pid), now)
        case Refused() if unit.state.alive:
            return _refused(unit, event.reason)
        case Proven() if unit.state is State.STARTING:
            return replace(unit, state=State.READY, ready_at=now, deadline=None, reason=""), ()
        case Exited() if unit.state.alive:
            return _exited(unit, event, now)
        case Gone() if unit.state is State.ENDING:
            return _settle(unit, now)
        case Tick() if unit.deadline is not None and now >= unit.deadline:
            return _overdue(unit, event.reason, now)
    return unit, ()


def _ask(unit: Unit, what: str, now: float) -> _Step:
    if unit.state.alive:
        return _ask_alive(unit, what, now)
    if what in {"start", "restart"}:
        if unit.state is State.WAITING:
            return unit, ()
        fresh = replace(unit, intent="run", row=0, reason="", forced=False, deadline=None, status=None)
        return replace(fresh, state=State.WAITING), ()
    return (unit, ()) if unit.state.final else _end(unit, State.STOPPED, "")


def _ask_alive(unit: Unit, what: str, now: float) -> _Step:
    if what == "kill":
        return replace(_asked(unit, "stop"), state=State.STOPPING, deadline=None, forced=True), (Kill(),)
    if what == "start":
        going = unit.state in {State.STOPPING, State.ENDING} and unit.intent == "stop"
        return (replace(unit, intent="restart") if going else unit), ()
    if unit.state in {State.STOPPING, State.ENDING}:
        return _asked(unit, what), ()
    stopping = replace(
        _asked(unit, what), state=State.STOPPING, ready_at=None, deadline=now + unit.rules.grace
    )
    return stopping, (Signal(unit.rules.stop_signal),)


def _asked(unit: Unit, what: str) -> Unit:
    return replace(unit, intent=what, reason="")


def _launch(unit: Unit, now: float) -> _Step:
    rules = unit.rules
    launched = replace(
        unit,
        state=State.STARTING,
        generation=unit.generation + 1,
        pid=None,
        started_at=now,
        ready_at=None,
        deadline=now + rules.start_period if rules.probed else None,
        forced=False,
        reason="",
    )
    return launched, (Launch(),)


def _spawned(unit: Unit, now: float) -> _Step:
    if unit.state is not State.STARTING:
        return unit, ()
    if unit.rules.probed:
        return unit, (Watch(),)
    return replace(unit, state=State.READY, ready_at=now), ()


def _refused(unit: Unit, reason: str) -> _Step:
    state = State.STOPPED if unit.intent == "stop" else State.FAILED
    return _end(unit, state, reason)


def _exited(unit: Unit, event: Exited, now: float) -> _Step:
    again = event.again and unit.intent == "run"
    noted = replace(unit, status=event.status, intent="restart" if again else unit.intent)
    if not event.left:
        return _settle(noted, now)
    if unit.state in {State.STOPPING, State.ENDING}:  # told already, and its time is running
        return replace(noted, state=State.ENDING), ()
    told = replace(noted, state=State.ENDING, deadline=now + unit.rules.grace)
    return told, (Signal(int(signal.SIGTERM)),)


def _settle(unit: Unit, now: float) -> _Step:
    if unit.intent == "stop":
        return _end(unit, State.STOPPED, "")
    if unit.intent == "restart":
        again = replace(unit, intent="run", row=0, restarts=unit.restarts + 1)
        return replace(_idle(again), state=State.WAITING, reason=""), ()
    never_ready = unit.rules.probed and unit.ready_at is None
    failed = bool(unit.status) or never_ready
    reason = unit.reason or ended(unit.status or 0) + (" before it was ready" if never_ready else "")
    if unit.rules.policy == "always" or (unit.rules.policy == "on-failure" and failed):
        return _again(unit, reason, now)
    return _end(unit, State.FAILED, reason) if failed else _end(unit, State.COMPLETED, "")


def _again(unit: Unit, reason: str, now: float) -> _Step:
    steady = unit.ready_at is not None and now - unit.ready_at >= _SETTLED
    row = 0 if steady else unit.row
    if row >= unit.rules.limit:
        return _end(unit, State.FAILED, f"{reason}; given up after {row} restarts")
    pause = min(unit.rules.backoff * 2.0 ** min(row, 60), _LONGEST)
    waiting = replace(_idle(unit), state=State.BACKOFF, row=row + 1, restarts=unit.restarts + 1)
    return replace(waiting, deadline=now + pause, reason=reason), ()


def _overdue(unit: Unit, reason: str, now: float) -> _Step:
    match unit.state:
        case State.STARTING:
            why = f"not ready within {unit.rules.start_period:g} s" + (f": {reason}" if reason else "")
            late = replace(unit, state=State.STOPPING, reason=why, deadline=now + unit.rules.grace)
            return late, (Signal(unit.rules.stop_signal),)
        case State.BACKOFF:
            return replace(unit, state=State.WAITING, deadline=None), ()
        case State.STOPPING | State.ENDING:
            return replace(unit, deadline=None, forced=True), (Kill(),)
    return replace(unit, deadline=None), ()


def _idle(unit: Unit) -> Unit:
    return replace(unit, pid=None, ready_at=None, deadline=None)


def _end(unit: Unit, state: State, reason: str) -> _Step:
    return replace(_idle(unit), state=state, intent="run", reason=reason), ()
