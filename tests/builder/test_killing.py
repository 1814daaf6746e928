"""Kill builders at random moments: nothing incomplete is ready, the next run completes."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import jobs, processes, syncer
from tests.support.capabilities import needs_linux

from greenroom.store import layout, locking
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.index import Index

    from greenroom.builder.work import Job

NIGHTLY = os.environ.get("GREENROOM_TEST_PROFILE") == "nightly"
ROUNDS = 50 if NIGHTLY else 4
NAMES = [f"pack{number}" for number in range(12)]


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


@pytest.fixture
def job(index: Index) -> Job:
    files = {f"{{name}}/deep/module{number}.py": f"V = {number}\n" * 20 for number in range(40)}
    parts = [
        jobs.part(
            index,
            index.add_wheel(
                name, "1.0", files={path.format(name=name): text for path, text in files.items()}
            ),
        )
        for name in NAMES
    ]
    parts.append(jobs.part(index, index.add_sdist("built", "1.0")))
    return jobs.job(parts, supply={"link_mode": "copy"}, bytecode=True)


def check_complete_when_ready(store: Store, job: Job) -> bool:
    """Tell whether it is ready; if so, everything must be importable and every file there."""
    if layout.state(store, job.key)[0] != State.READY:
        return False
    code = "; ".join(f"import {name}.deep.module{number}" for name in NAMES for number in range(0, 40, 13))
    subprocess.run([store.interpreter(job.key), "-I", "-c", f"{code}; import built"], check=True, cwd="/")
    modules = list(Path(store.environment(job.key)).rglob("deep/module*.py"))
    assert len(modules) == 40 * len(NAMES)
    assert all(len(path.read_text()) > 100 for path in modules)
    return True


def seconds_of_a_build(job: Job, folder: Path, environ: dict[str, str]) -> float:
    """Build once elsewhere, which also warms uv's cache, and tell how long it took."""
    began = time.monotonic()
    syncer.start([job], folder / "first-store", environ, folder=folder).wait(status=0)
    return time.monotonic() - began


@needs_linux
def test_killing_greenroom_at_random_moments_leaves_nothing_that_counts(
    store: Store, job: Job, environ: dict[str, str], tmp_path: Path
) -> None:
    whole = seconds_of_a_build(job, tmp_path, environ)
    chance = random.Random(7)  # noqa: S311 - moments, no secrets
    for round_ in range(ROUNDS):
        running = syncer.start([job], Path(store.path), environ, folder=tmp_path)
        time.sleep(chance.uniform(0, whole))  # the moment itself is what is tested
        running.kill()
        running.wait(status=None)
        while left := processes.children():  # what it started ends with it, generation by generation
            for pid in left:
                assert processes.wait_for(pid, 10), f"round {round_}: process {pid} lives on"
        if check_complete_when_ready(store, job):
            store = Store(path=f"{store.path}-{round_}", writable=True)
            continue
        assert locking.held(store.lock(job.key)) is None
    syncer.start([job], Path(store.path), environ, folder=tmp_path).wait(status=0)
    assert check_complete_when_ready(store, job)
    assert not list(Path(store.building).iterdir())


@needs_linux
def test_killing_uv_at_random_moments_is_a_failure_or_nothing_and_never_half_an_environment(
    store: Store, job: Job, environ: dict[str, str], tmp_path: Path
) -> None:
    whole = seconds_of_a_build(job, tmp_path, environ)
    chance = random.Random(11)  # noqa: S311 - moments, no secrets
    for round_ in range(ROUNDS):
        running = syncer.start([job], Path(store.path), environ, folder=tmp_path)
        time.sleep(chance.uniform(0.3 * whole, whole))
        for pid in _uvs():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        outcome = running.wait(status=None)
        ready = check_complete_when_ready(store, job)
        assert outcome.status == (0 if ready else 1), outcome
        if ready:
            store = Store(path=f"{store.path}-{round_}", writable=True)
    syncer.start([job], Path(store.path), environ, folder=tmp_path).wait(status=0)
    assert check_complete_when_ready(store, job)


@needs_linux
def test_a_kill_before_any_single_step_leaves_nothing_that_counts(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    parts = [
        jobs.part(index, index.add_wheel("alpha", "1.0")),
        jobs.part(index, index.add_sdist("built", "1.0")),
    ]
    job = jobs.job(parts, bytecode=True)
    steps = itertools.count(1) if NIGHTLY else iter((1, 5, 13, 25, 45, 80, 130))
    for step in steps:
        one = Store(path=f"{store.path}-{step}", writable=True)
        running = syncer.start([job], Path(one.path), environ, folder=tmp_path, dies_at=step)
        outcome = running.wait(status=None)
        while left := processes.children():
            for pid in left:
                assert processes.wait_for(pid, 10), f"step {step}: process {pid} lives on"
        if outcome.status == 0:
            break
        assert outcome.status == -signal.SIGKILL, outcome
        if layout.state(one, job.key)[0] == State.READY:
            code = [one.interpreter(job.key), "-I", "-c", "import alpha, built"]
            subprocess.run(code, check=True, cwd="/")
        syncer.start([job], Path(one.path), environ, folder=tmp_path).wait(status=0)
        assert layout.state(one, job.key) == (State.READY, ""), step
        assert not list(Path(one.building).iterdir()), step


def _uvs() -> list[int]:
    """Return the processes of uv below this one."""
    found, left = [], list(processes.children())
    while left:
        pid = left.pop()
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                left += map(int, (task / "children").read_text().split())
            if Path(f"/proc/{pid}/exe").readlink().name == "uv":
                found.append(pid)
    return found
