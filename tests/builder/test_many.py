"""Many builders at once: one build for each key and each wheel, and nobody starves."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import jobs, syncer
from tests.support.gate import Gate

from greenroom.store import layout
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.index import Index


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def test_twenty_processes_build_each_key_once_and_all_succeed(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    work = [
        jobs.job(
            [
                jobs.part(index, index.add_wheel(f"one{n}", "1.0")),
                jobs.part(index, index.add_wheel("all", "1")),
            ]
        )
        for n in range(3)
    ]
    running = [syncer.start(work, Path(store.path), environ, folder=tmp_path) for _ in range(20)]
    outcomes = [process.wait(status=0) for process in running]
    ready = [
        event
        for outcome in outcomes
        for event in syncer.events_of(outcome.stdout)
        if event["event"] == "Ready"
    ]
    assert len(ready) == 20 * len(work)
    assert sorted(event["key"] for event in ready if event["built"]) == sorted(job.key for job in work)
    assert len(list(Path(store.logs).iterdir())) == len(work)
    assert not list(Path(store.building).iterdir())


def test_three_starters_of_one_environment_wait_for_its_record(
    index: Index, store: Store, environ: dict[str, str], gate: Gate, tmp_path: Path
) -> None:
    job = jobs.job([jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))])
    with Gate() as waits, contextlib.ExitStack() as stack:
        stack.callback(gate.open)
        running = [
            syncer.start([job], Path(store.path), environ, folder=tmp_path, tells=("Waiting", waits))
            for _ in range(3)
        ]
        gate.wait()
        waits.wait()
        waits.wait()
        assert layout.state(store, job.key)[0] == State.MISSING
        assert not any(process.over for process in running)
        gate.open()
        outcomes = [process.wait(status=0) for process in running]
    ends = [syncer.events_of(outcome.stdout)[-1] for outcome in outcomes]
    assert sorted(event["built"] for event in ends) == [False, False, True]
    assert gate.arrived == 1


def test_a_tiny_lock_timeout_of_the_caller_fails_nothing(
    index: Index, store: Store, environ: dict[str, str], gate: Gate, tmp_path: Path
) -> None:
    slow = jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))
    work = [
        jobs.job([slow, jobs.part(index, index.add_wheel(name, "1.0"))], components=(f"server {name}",))
        for name in ("alpha", "beta", "gamma", "delta")
    ]
    tiny = environ | {"UV_LOCK_TIMEOUT": "1"}
    with Gate() as waits, contextlib.ExitStack() as stack:
        stack.callback(gate.open)
        running = [
            syncer.start([job], Path(store.path), tiny, folder=tmp_path, tells=("Waiting", waits))
            for job in work
        ]
        gate.wait()
        for _ in range(3):
            waits.wait()
        gate.open()
        outcomes = [process.wait(status=0) for process in running]
    waiting = [
        event
        for outcome in outcomes
        for event in syncer.events_of(outcome.stdout)
        if event["event"] == "Waiting"
    ]
    assert {event["what"] for event in waiting} == {"the wheel of slow 1.0"}
    assert all("building slow 1.0" in event["holder"] for event in waiting)
    assert gate.arrived == 1
