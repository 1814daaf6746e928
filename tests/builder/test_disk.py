"""A full disk, no inodes, a store that cannot be written: said plainly, and nothing half-made stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import jobs, syncer
from tests.support.capabilities import needs_tmpfs, on_tmpfs

from greenroom.builder import disk
from greenroom.store import layout
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.index import Index


@needs_tmpfs
@pytest.mark.parametrize(
    ("size", "inodes", "words"), [("3m", None, "no space is left"), ("64m", 70, "no inode is left")]
)
def test_a_full_disk_is_said_with_its_path_and_the_next_run_completes(
    index: Index, environ: dict[str, str], tmp_path: Path, size: str, inodes: int | None, words: str
) -> None:
    files = {f"alpha/data{number}.bin": "x" * 100_000 for number in range(60)}
    job = jobs.job(
        [jobs.part(index, index.add_wheel("alpha", "1.0", files=files))], supply={"link_mode": "copy"}
    )
    small = tmp_path / "small"
    small.mkdir()
    prefix = on_tmpfs(small, size=size, inodes=inodes)
    running = syncer.start([job], small / "store", environ, folder=tmp_path, prefix=prefix)
    outcome = running.wait(status=1)
    events = syncer.events_of(outcome.stdout)
    assert events[-1]["event"] == "Failed", outcome
    error = events[-1]["error"]
    assert words in error
    assert str(small) in error
    assert "gc" in error
    assert "Traceback" not in outcome.stderr
    syncer.start([job], tmp_path / "store", environ, folder=tmp_path).wait(status=0)
    assert layout.state(Store(path=str(tmp_path / "store"), writable=True), job.key)[0] == State.READY


@needs_tmpfs
def test_a_full_disk_of_the_cache_is_told_in_uvs_words(
    index: Index, environ: dict[str, str], tmp_path: Path
) -> None:
    files = {f"alpha/data{number}.bin": "x" * 100_000 for number in range(60)}
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0", files=files))])
    small = tmp_path / "small"
    small.mkdir()
    running = syncer.start(
        [job],
        tmp_path / "store",
        environ | {"UV_CACHE_DIR": str(small / "cache")},
        folder=tmp_path,
        prefix=on_tmpfs(small, size="2m"),
    )
    error = syncer.events_of(running.wait(status=1).stdout)[-1]["error"]
    assert "No space left on device" in error
    assert "UV_CACHE_DIR" in error


@needs_tmpfs
def test_a_cache_on_another_device_costs_copies_and_that_is_said_once(
    index: Index, environ: dict[str, str], tmp_path: Path
) -> None:
    files = {f"alpha/data{number}.txt": "x" * 100 for number in range(70)}
    alpha = jobs.part(index, index.add_wheel("alpha", "1.0", files=files))
    beta = jobs.part(index, index.add_wheel("beta", "1.0"))
    small = tmp_path / "small"
    small.mkdir()
    running = syncer.start(
        [jobs.job([alpha])],
        tmp_path / "store",
        environ | {"UV_CACHE_DIR": str(small / "cache")},
        folder=tmp_path,
        prefix=on_tmpfs(small, size="64m"),
    )
    notes = [event["text"] for event in syncer.events_of(running.wait().stdout) if event["event"] == "Note"]
    assert len(notes) == 1
    assert "copied, not linked" in notes[0]
    second = jobs.job([alpha, beta])
    syncer.start(
        [second],
        tmp_path / "store",
        environ | {"UV_CACHE_DIR": str(small / "cache")},
        folder=tmp_path,
        prefix=on_tmpfs(small, size="64m"),
    ).wait()
    data = list((tmp_path / "store" / second.key).rglob("data*.txt"))
    assert len(data) == 70
    assert all(path.stat().st_nlink > 1 for path in data)


@needs_tmpfs
def test_a_read_only_store_is_an_error_with_the_way_out(
    index: Index, environ: dict[str, str], tmp_path: Path
) -> None:
    ready = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    syncer.start([ready], tmp_path / "store", environ, folder=tmp_path).wait()
    missing = jobs.job([jobs.part(index, index.add_wheel("beta", "1.0"))])
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    prefix = (*on_tmpfs(tmp_path, size="1m")[:-5], "sh", "-c", script, str(tmp_path / "store"))
    running = syncer.start([ready, missing], tmp_path / "store", environ, folder=tmp_path, prefix=prefix)
    outcome = running.wait(status=1)
    ends = {event["key"]: event for event in syncer.events_of(outcome.stdout) if event["event"] != "Queued"}
    assert ends[ready.key]["event"] == "Ready"
    assert "Read-only" in ends[missing.key]["error"]
    assert "GREENROOM_STORE" in ends[missing.key]["error"]
    assert "Traceback" not in outcome.stderr


def test_errors_of_the_system_are_recognised_through_their_causes() -> None:
    outer = ValueError()
    outer.__cause__ = OSError(28, "No space left on device")
    assert disk.is_full(outer)
    assert not disk.is_full(OSError(2, "x"))
    assert not disk.is_full(None)


def test_what_is_left_is_told_for_a_path_that_is_not_there_yet(tmp_path: Path) -> None:
    assert str(tmp_path / "a/b") in disk.room(str(tmp_path / "a/b"))
    assert "free" in disk.room(str(tmp_path))
