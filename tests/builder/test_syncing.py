from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import jobs

from greenroom.builder import syncing
from greenroom.builder.events import Event, Failed, Note, Output, Phase, Queued, Ready, Started
from greenroom.errors import BuildFailed, UvTooOld
from greenroom.store import layout, locking, records
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.gate import Gate
    from tests.support.index import Index

    from greenroom.builder.work import Job, Result


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def sync(work: Sequence[Job], store: Store, environ: dict[str, str], **more: Any) -> tuple[Result, ...]:
    return syncing.sync(work, store, observer=more.pop("observer", lambda _: None), environ=environ, **more)


def said(store: Store, job: Job, code: str) -> str:
    command = [store.interpreter(job.key), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout.strip()


def test_a_missing_environment_is_built_proven_and_recorded(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    files = [index.add_wheel("alpha", "1.0", scripts={"tool": "alpha:main"}), index.add_wheel("beta", "2.0")]
    job = jobs.job([jobs.part(index, file) for file in files])
    (result,) = sync([job], store, environ)
    assert result.error is None
    assert (result.built, result.path) == (True, store.environment(job.key))
    assert layout.state(store, job.key) == (State.READY, "")
    assert said(store, job, "import alpha, beta; print(alpha.__version__, beta.__version__)") == "1.0 2.0"
    assert not list(Path(store.building).iterdir())


def test_events_of_a_key_come_in_order_on_the_callers_thread(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    work = [
        jobs.job([jobs.part(index, index.add_wheel(name, "1.0"))], components=(f"app.{name}",))
        for name in ("alpha", "beta", "gamma")
    ]
    events: list[Event] = []
    threads: set[int] = set()

    def observe(event: Event) -> None:
        events.append(event)
        threads.add(threading.get_ident())

    sync(work, store, environ, observer=observe)
    assert threads == {threading.get_ident()}
    for job in work:
        mine = [event for event in events if getattr(event, "key", None) == job.key]
        assert isinstance(mine[0], Queued)
        assert isinstance(mine[1], Started)
        assert isinstance(mine[-1], Ready)
        assert all(isinstance(event, Phase | Output | Note) for event in mine[2:-1])
        phases = [event.phase for event in mine if isinstance(event, Phase)]
        assert phases == ["install", "prove"]
        assert [event.at for event in mine] == sorted(event.at for event in mine)


def test_the_log_is_complete_private_and_named_in_the_record(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    events: list[Event] = []
    sync([job], store, environ, observer=events.append)
    record = records.read(store, job.key)
    assert record is not None
    log = Path(store.logs) / record.log
    assert [event.log for event in events if isinstance(event, Started)] == [str(log)]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    text = log.read_text()
    for event in events:
        if isinstance(event, Output):
            assert event.line in text
    assert "pip sync" in text
    assert text.rstrip().endswith("ready")


def test_a_ready_environment_costs_nothing_more(index: Index, store: Store, environ: dict[str, str]) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    sync([job], store, environ)
    logs = sorted(Path(store.logs).iterdir())
    asked = len(index.requests)
    events: list[Event] = []
    (result,) = sync([job], store, environ, observer=events.append)
    assert (result.ok, result.built) == (True, False)
    assert [type(event) for event in events] == [Queued, Ready]
    assert sorted(Path(store.logs).iterdir()) == logs
    assert len(index.requests) == asked


def test_a_failure_does_not_stop_the_others_and_says_what_where_and_why(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    gone = index.add_wheel("gone", "1.0")
    broken = jobs.job([jobs.part(index, gone)], components=("app.Broken",))
    index.remove(gone.name)
    fine = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], components=("app.Fine",))
    events: list[Event] = []
    first, second = sync([broken, fine], store, environ, observer=events.append)
    assert second.ok
    error = first.error
    assert isinstance(error, BuildFailed)
    assert error.components == ("app.Broken",)
    assert error.phase == "install"
    assert "404" in error.cause
    assert "gone" in error.cause
    assert "404" in Path(error.log).read_text()
    line = str(error)
    assert line.startswith("app.Broken: install failed: ")
    assert error.log in line
    assert "\n" not in line
    ends = [event for event in events if isinstance(event, Failed | Ready)]
    assert {type(event).__name__: event.key for event in ends} == {"Failed": broken.key, "Ready": fine.key}


def test_what_failed_once_is_built_when_the_cause_is_gone_without_any_deletion(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    fault = index.fault("/files/*", status=403)
    (result,) = sync([job], store, environ)
    assert not result.ok
    assert layout.state(store, job.key)[0] == State.MISSING
    assert not Path(store.environment(job.key)).exists()
    assert not list(Path(store.building).iterdir())
    assert fault.reached.is_set()
    index.heal()
    (result,) = sync([job], store, environ)
    assert result.ok
    assert said(store, job, "import alpha; print(alpha.__version__)") == "1.0"


def test_an_observer_that_raises_stops_the_run_and_its_exception_goes_on(
    index: Index, store: Store, environ: dict[str, str], gate: Gate
) -> None:
    job = jobs.job([jobs.part(index, index.add_sdist("slow", "1.0", gate=gate, prints=["here"]))])
    heard: list[Event] = []

    def observe(event: Event) -> None:
        heard.append(event)
        if isinstance(event, Output) and event.line == "here":
            gate.wait()
            msg = "enough"
            raise ValueError(msg)

    with pytest.raises(ValueError, match="enough"):
        sync([job], store, environ, observer=observe)
    assert isinstance(heard[-1], Output)
    assert layout.state(store, job.key)[0] == State.MISSING
    assert not list(Path(store.wheels).iterdir())


def test_as_many_builds_run_at_once_as_asked_for(
    index: Index, store: Store, environ: dict[str, str], gate: Gate
) -> None:
    work = [
        jobs.job([jobs.part(index, index.add_sdist(name, "1.0", gate=gate))])
        for name in ("alpha", "beta", "c")
    ]
    running: set[str] = set()
    most = 0

    def observe(event: Event) -> None:
        nonlocal most
        if isinstance(event, Started):
            running.add(event.key)
            most = max(most, len(running))
            if len(running) == 2:
                gate.open()
        if isinstance(event, Ready):
            running.discard(event.key)

    results = sync(work, store, environ, observer=observe, at_once=2)
    assert all(result.ok for result in results)
    assert most == 2
    assert [result.key for result in results] == [job.key for job in work]


def test_too_old_a_uv_ends_the_run(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    old = tmp_path / "uv"
    old.write_text("#!/bin/sh\necho uv 0.1.0\n")
    old.chmod(0o755)
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    with pytest.raises(UvTooOld):
        sync([job], store, environ | {"GREENROOM_UV": str(old)})


def test_ignored_settings_are_named_once(index: Index, store: Store, environ: dict[str, str]) -> None:
    folder = Path(environ["XDG_CONFIG_HOME"]) / "uv"
    folder.mkdir(parents=True)
    (folder / "uv.toml").write_text('exclude-newer = "2000-01-01"\n')
    work = [jobs.job([jobs.part(index, index.add_wheel(name, "1.0"))]) for name in ("alpha", "beta")]
    events: list[Event] = []
    assert all(result.ok for result in sync(work, store, environ, observer=events.append))
    notes = [event.text for event in events if isinstance(event, Note)]
    assert len([note for note in notes if "exclude-newer" in note and str(folder) in note]) == 1


def test_what_a_killed_build_left_is_removed_by_the_next_one(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    layout.prepare(store)
    left = Path(store.building) / f"{job.key}.left"
    left.mkdir()
    (left / "uv.toml").write_text("x")
    half = Path(store.environment(job.key))
    (half / "bin").mkdir(parents=True)
    assert sync([job], store, environ)[0].ok
    assert not left.exists()
    assert said(store, job, "import alpha") == ""


def test_any_run_removes_what_killed_builds_left_but_nothing_of_running_ones(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    sync([job], store, environ)
    left = Path(store.building) / "cp311-aaaaaaaaaaaaaaaaaaaaaaaa.left"
    runs = Path(store.building) / "cp311-bbbbbbbbbbbbbbbbbbbbbbbb.runs"
    for folder in (left, runs):
        folder.mkdir()
        (folder / "uv.toml").write_text("x")
    with locking.hold(store.lock("cp311-bbbbbbbbbbbbbbbbbbbbbbbb")):
        sync([job], store, environ)
        assert not left.exists()
        assert runs.exists()


def test_private_files_are_readable_by_nobody_else_and_gone_afterwards(
    index: Index, store: Store, environ: dict[str, str], gate: Gate
) -> None:
    sdist = index.add_sdist("slow", "1.0", gate=gate, prints=["here"])
    job = jobs.job([jobs.part(index, sdist)])
    modes: dict[str, int] = {}

    def observe(event: Event) -> None:
        if isinstance(event, Output) and event.line == "here":
            for folder, _, files in os.walk(store.building):
                for name in files:
                    if name.endswith(".toml") and Path(folder).parent == Path(store.building):
                        modes[name] = stat.S_IMODE((Path(folder) / name).stat().st_mode)
                if Path(folder).parent == Path(store.building):
                    modes["folder"] = stat.S_IMODE(Path(folder).stat().st_mode)
            gate.open()

    assert sync([job], store, environ, observer=observe)[0].ok
    assert modes == {"folder": 0o700, "uv.toml": 0o600}
    assert not list(Path(store.building).iterdir())
