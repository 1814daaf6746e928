"""The machine: recorded histories replayed without a process."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.servers.machine import ended, step
from greenroom.servers.model import (
    Ask,
    Exited,
    Gone,
    Kill,
    Launch,
    Needs,
    Proven,
    Refused,
    Rules,
    Signal,
    Spawned,
    State,
    Tick,
    Unit,
    Watch,
)

if TYPE_CHECKING:
    from greenroom.servers.model import Decision, Event

TERM = Signal(signal.SIGTERM)
MET = Needs(met=True)


def replay(rules: Rules, *history: tuple[float, Event]) -> tuple[Unit, list[Decision]]:
    """Return what a history leads to, and everything that was decided on the way."""
    unit = Unit(name="a", server="a", rules=rules)
    decided: list[Decision] = []
    for now, event in history:
        unit, decisions = step(unit, event, now)
        decided += decisions
    return unit, decided


START: tuple[tuple[float, Event], ...] = ((0, Ask("start")), (0, MET), (0.1, Spawned(7)))


def test_without_a_probe_a_started_process_is_ready() -> None:
    unit, decided = replay(Rules(), *START)
    assert (unit.state, unit.pid, unit.ready_at, decided) == (State.READY, 7, 0.1, [Launch()])


def test_with_a_probe_it_is_ready_when_that_succeeds() -> None:
    unit, decided = replay(Rules(probed=True), *START)
    assert (unit.state, decided) == (State.STARTING, [Launch(), Watch()])
    unit, _ = step(unit, Proven(), 2)
    assert (unit.state, unit.ready_at, unit.deadline) == (State.READY, 2, None)


def test_stop_asks_then_kills_after_the_grace() -> None:
    unit, decided = replay(Rules(grace=3), *START, (1, Ask("stop")))
    assert (unit.state, unit.deadline, decided[-1]) == (State.STOPPING, 4, TERM)
    assert step(unit, Tick(), 3.9) == (unit, ())
    unit, decisions = step(unit, Tick(), 4)
    assert (decisions, unit.forced) == ((Kill(),), True)
    unit, _ = step(unit, Exited(-9), 4.1)
    assert (unit.state, unit.forced, unit.pid) == (State.STOPPED, True, None)


def test_a_stop_is_not_over_while_a_grandchild_lives() -> None:
    unit, decided = replay(Rules(grace=1), *START, (1, Ask("stop")), (1.1, Exited(0, left=True)))
    assert unit.state is State.ENDING
    unit, decisions = step(unit, Tick(), 2)
    assert decisions == (Kill(),)
    assert step(unit, Gone(), 2.1)[0].state is State.STOPPED
    assert decided[-1] == TERM


def test_a_crash_is_a_failure_with_its_signal() -> None:
    unit, _ = replay(Rules(), *START, (5, Exited(-signal.SIGSEGV)))
    assert (unit.state, unit.reason) == (State.FAILED, "was killed by SIGSEGV")


def test_a_crash_that_leaves_grandchildren_ends_them_first() -> None:
    unit, decided = replay(Rules(policy="always", grace=2), *START, (5, Exited(1, left=True)))
    assert (unit.state, unit.deadline, decided[-1]) == (State.ENDING, 7, TERM)
    assert step(unit, Gone(), 6)[0].state is State.BACKOFF


def test_an_end_with_status_nought_is_completed_unless_it_was_to_be_ready_first() -> None:
    assert replay(Rules(), *START, (5, Exited(0)))[0].state is State.COMPLETED
    unit, _ = replay(Rules(probed=True), *START, (5, Exited(0)))
    assert (unit.state, unit.reason) == (State.FAILED, "ended with status 0 before it was ready")


def test_one_that_never_gets_ready_is_stopped_and_says_what_its_probe_met() -> None:
    rules = Rules(probed=True, start_period=10, grace=1)
    unit, decided = replay(rules, *START, (10, Tick("HTTP status 503")))
    assert (unit.state, decided[-1]) == (State.STOPPING, TERM)
    unit, _ = step(unit, Exited(-15), 10.2)
    assert (unit.state, unit.reason) == (State.FAILED, "not ready within 10 s: HTTP status 503")


@pytest.mark.parametrize(
    ("policy", "status", "state"),
    [
        ("never", 1, State.FAILED),
        ("on-failure", 1, State.BACKOFF),
        ("on-failure", 0, State.COMPLETED),
        ("always", 0, State.BACKOFF),
    ],
)
def test_the_policy_decides_what_follows_an_end(policy: str, status: int, state: State) -> None:
    assert replay(Rules(policy=policy), *START, (1, Exited(status)))[0].state is state


def test_restarts_wait_twice_as_long_each_time_and_come_to_an_end() -> None:
    unit, _ = replay(Rules(policy="always", backoff=1, limit=3), *START)
    now, pauses = 1.0, []
    while unit.state is not State.FAILED:
        unit, _ = step(unit, Exited(2), now)
        if unit.deadline is not None:
            pauses.append(unit.deadline - now)
            now = unit.deadline
            for event in (Tick(), MET, Spawned(8)):
                unit, _ = step(unit, event, now)
    assert (pauses, unit.restarts) == ([1, 2, 4], 3)
    assert unit.reason == "ended with status 2; given up after 3 restarts"


def test_a_long_time_of_readiness_forgets_earlier_restarts() -> None:
    unit, _ = replay(Rules(policy="always", backoff=1), *START, (0.2, Exited(1)), (1.2, Tick()), (1.2, MET))
    unit, _ = step(unit, Spawned(8), 1.3)
    assert step(unit, Exited(1), 2)[0].row == 2
    assert step(unit, Exited(1), 60)[0].row == 1


def test_a_restart_stops_first() -> None:
    unit, decided = replay(Rules(), *START, (1, Ask("restart")), (1.1, Exited(-15)))
    assert (unit.state, unit.restarts, decided[-1]) == (State.WAITING, 1, TERM)


def test_a_start_amid_a_stop_follows_it() -> None:
    unit, _ = replay(Rules(), *START, (1, Ask("stop")), (1.1, Ask("start")), (1.2, Exited(-15)))
    assert unit.state is State.WAITING


def test_what_cannot_be_started_has_failed_and_is_not_tried_again() -> None:
    unit, _ = replay(Rules(policy="always"), (0, Ask("start")), (0, MET), (0, Refused("no such file")))
    assert (unit.state, unit.reason) == (State.FAILED, "no such file")


def test_what_is_needed_and_never_comes_is_said_at_once() -> None:
    unit, decided = replay(
        Rules(), (0, Ask("start")), (0, Needs(met=False, reason="needs db ready: db is failed"))
    )
    assert (unit.state, unit.reason, decided) == (State.FAILED, "needs db ready: db is failed", [])


def test_an_answer_to_an_earlier_process_changes_nothing() -> None:
    unit, _ = replay(Rules(probed=True), *START, (1, Exited(1)))
    assert step(unit, Proven(), 2) == (unit, ())
    assert step(unit, Spawned(9), 2) == (unit, ())


def test_ends_are_said_in_words() -> None:
    assert ended(3) == "ended with status 3"
    assert ended(-9) == "was killed by SIGKILL"
    assert ended(-200) == "was killed by signal 200"


EVENTS = st.one_of(
    st.builds(Ask, st.sampled_from(["start", "stop", "restart", "kill"])),
    st.builds(lambda met: Needs(met=met), st.booleans()),
    st.builds(Spawned, st.integers(1, 9)),
    st.just(Refused("no")),
    st.just(Proven()),
    st.builds(Exited, st.integers(-15, 2), left=st.booleans()),
    st.just(Gone()),
    st.just(Tick()),
)


@given(
    st.lists(st.tuples(st.floats(0, 100), EVENTS)),
    st.sampled_from(["never", "on-failure", "always"]),
    st.booleans(),
)
def test_no_history_leaves_a_process_unattended(
    history: list[tuple[float, Event]], policy: str, probed: bool
) -> None:
    unit = Unit(name="a", server="a", rules=Rules(policy=policy, probed=probed))
    now, running = 0.0, 0
    for pause, event in history:
        now += pause
        before = unit
        unit, decisions = step(unit, event, now)
        running += sum(isinstance(decision, Launch) for decision in decisions)
        assert not any(isinstance(d, Launch) for d in decisions) or not before.state.alive, "one at a time"
        if unit.state in {State.STOPPING, State.ENDING}:
            killed = unit.forced and unit.deadline is None
            assert unit.deadline is not None or killed, "whatever is to end has a deadline or was killed"
        if unit.state is State.BACKOFF:
            assert unit.deadline is not None
        assert unit.state.alive or unit.pid is None
    assert running == unit.generation
