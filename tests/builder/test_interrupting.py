from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import jobs, processes, syncer
from tests.support.gate import Gate

from greenroom.store import layout, locking
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.index import Index


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def test_ctrl_c_ends_everything_and_every_key_has_its_end(
    index: Index, store: Store, environ: dict[str, str], gate: Gate, tmp_path: Path
) -> None:
    slow = jobs.job([jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))], components=("app.Slow",))
    waiting = [
        jobs.job([jobs.part(index, index.add_sdist(n, "1.0", gate=gate))]) for n in ("b", "c", "d", "e")
    ]
    running = syncer.start([slow, *waiting], Path(store.path), environ, folder=tmp_path)
    backend = gate.wait()
    running.interrupt()
    outcome = running.wait(status=130)
    assert processes.wait_for(backend, 5) if Path(f"/proc/{backend}").exists() else True
    events = syncer.events_of(outcome.stdout)
    ends = [event for event in events if event["event"] in {"Ready", "Failed"}]
    assert sorted(event["key"] for event in ends) == sorted(job.key for job in (slow, *waiting))
    assert all(event["event"] == "Failed" and "stopped" in event["error"] for event in ends)
    for job in (slow, *waiting):
        assert layout.state(store, job.key)[0] == State.MISSING
        assert locking.held(store.lock(job.key)) is None
    assert "Traceback" not in outcome.stderr
    gate.open()
    again = syncer.start([slow, *waiting], Path(store.path), environ, folder=tmp_path)
    again.wait(status=0)


def test_ctrl_c_ends_a_process_that_waits_for_anothers_build(
    index: Index, store: Store, environ: dict[str, str], gate: Gate, tmp_path: Path
) -> None:
    job = jobs.job([jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))])
    first = syncer.start([job], Path(store.path), environ, folder=tmp_path)
    gate.wait()
    with Gate() as waits:
        second = syncer.start([job], Path(store.path), environ, folder=tmp_path, tells=("Waiting", waits))
        waits.wait()
    second.interrupt()
    outcome = second.wait(status=130)
    events = syncer.events_of(outcome.stdout)
    assert [event["event"] for event in events] == ["Queued", "Waiting", "Failed"]
    assert f"process {first.pid} on" in events[1]["holder"]
    gate.open()
    first.wait(status=0)


def test_a_killed_builder_leaves_nothing_running_and_a_waiting_one_takes_over_at_once(
    index: Index, store: Store, environ: dict[str, str], gate: Gate, tmp_path: Path
) -> None:
    job = jobs.job([jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))])
    first = syncer.start([job], Path(store.path), environ, folder=tmp_path)
    backend = gate.wait()
    with Gate() as waits:
        second = syncer.start([job], Path(store.path), environ, folder=tmp_path, tells=("Waiting", waits))
        waits.wait()
    first.kill()
    assert processes.wait_for(backend, 20)
    first.wait(status=-signal.SIGKILL)
    gate.open()
    outcome = second.wait(status=0)
    assert syncer.events_of(outcome.stdout)[-1]["built"] is True
    assert layout.state(store, job.key)[0] == State.READY
    assert not list(Path(store.building).iterdir())


def test_a_killed_uv_is_one_failure_with_the_signals_name(
    index: Index, store: Store, environ: dict[str, str], gate: Gate, tmp_path: Path
) -> None:
    job = jobs.job([jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))])
    running = syncer.start([job], Path(store.path), environ, folder=tmp_path)
    backend = gate.wait()
    uv = int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])
    assert b"build" in Path(f"/proc/{uv}/cmdline").read_bytes()
    os.kill(uv, signal.SIGKILL)
    gate.open()
    outcome = running.wait(status=1)
    (end,) = [event for event in syncer.events_of(outcome.stdout) if event["event"] in {"Ready", "Failed"}]
    assert "SIGKILL" in end["error"]
    assert "build of slow 1.0 failed" in end["error"]
    again = syncer.start([job], Path(store.path), environ, folder=tmp_path)
    again.wait(status=0)
