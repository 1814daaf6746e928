"""A partial environment is continued where it stands: only what the stage brings is new."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import distributions, jobs

from greenroom.builder.syncing import sync
from greenroom.errors import LateMissing, WrongWheel
from greenroom.recipes.model import Distribution, Late, Origins
from greenroom.store import layout, records
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.index import Index

    from greenroom.builder.work import Job, Result


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def build(job: Job, store: Store, environ: dict[str, str]) -> Result:
    (result,) = sync([job], store, observer=lambda _: None, environ=environ)
    return result


def late(name: str, version: str = "1.0") -> jobs.Part:
    return Distribution(name=name, version=version, content=Late()), Origins(name=name)


def wheel(folder: Path, name: str, version: str = "1.0", **files: str) -> str:
    folder.mkdir(exist_ok=True)
    file, content, _ = distributions.wheel(
        name, version, files={f"{name}/{key}.py": text for key, text in files.items()}
    )
    (folder / file).write_bytes(content)
    return str(folder)


def tree(root: str) -> dict[str, tuple[int, int, int]]:
    """Return every file and folder with inode, mode and size: what a layer of an image compares."""
    found = {}
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(folder, name)
            status = path.lstat()
            size = status.st_size if name in files else 0
            found[str(path.relative_to(root))] = (status.st_ino, status.st_mode, size)
    return found


def parts(index: Index) -> list[jobs.Part]:
    alpha = index.add_wheel(
        "alpha", "1.0", files={"alpha/deep/own.py": "V = 1\n"}, scripts={"al": "alpha:main"}
    )
    return [late("later"), late("latest"), jobs.part(index, alpha)]


def test_each_stage_adds_its_files_and_touches_no_other(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "wheels", "later", own="V = 2\n")
    wheel(tmp_path / "wheels", "latest", own="V = 3\n")
    all_ = parts(index)
    first = jobs.job(all_, pending=("later", "latest"), bytecode=True)
    root = store.environment(first.key)
    seen = []
    for pending in (("later", "latest"), ("latest",), ()):
        job = jobs.job(all_, pending=pending, late_wheels=wheels if len(pending) < 2 else None, bytecode=True)
        result = build(job, store, environ)
        assert result.built, result.error
        state, reason = layout.state(store, job.key)
        assert state == (State.PARTIAL if pending else State.READY)
        assert all(name in reason for name in pending)
        seen.append(tree(root))
    for before, after in itertools.pairwise(seen):
        gone = {path for path in before if path not in after}
        assert gone <= {"greenroom.partial.json"}
        changed = {path for path in before if path in after and before[path] != after[path]}
        assert changed <= {"greenroom.partial.json"}
    new = {path for path in seen[1] if path not in seen[0]}
    assert new
    assert all("/later" in path for path in new)
    record = records.read(store, first.key)
    assert record is not None
    assert all(item.wheel for item in record.installed)
    assert any("latest/__pycache__/own." in path for path in seen[2])


def test_a_stage_run_twice_does_nothing(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "wheels", "later")
    all_ = parts(index)
    for pending in (("later", "latest"), ("latest",)):
        job = jobs.job(all_, pending=pending, late_wheels=wheels)
        assert build(job, store, environ).built
        before = tree(store.environment(job.key))
        assert not build(job, store, environ).built
        assert tree(store.environment(job.key)) == before


def test_a_wheel_of_another_version_is_named_and_the_partial_environment_stays(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "wheels", "later", "2.0")
    all_ = parts(index)
    first = jobs.job(all_, pending=("later", "latest"))
    build(first, store, environ)
    before = tree(store.environment(first.key))
    error = build(jobs.job(all_, pending=("latest",), late_wheels=wheels), store, environ).error
    assert isinstance(error, WrongWheel)
    assert "later 1.0 is locked" in error.what
    assert "later-2.0" in error.what
    error = build(jobs.job(all_, late_wheels=str(tmp_path / "none")), store, environ).error
    assert isinstance(error, LateMissing)
    error = build(jobs.job(all_), store, environ).error
    assert isinstance(error, LateMissing)
    assert layout.state(store, first.key)[0] == State.PARTIAL
    assert tree(store.environment(first.key)) == before


def test_what_a_killed_stage_left_is_removed_before_the_next_attempt(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "wheels", "later", own="V = 2\n")
    all_ = [part for part in parts(index) if part[0].name != "latest"]
    first = jobs.job(all_, pending=("later",), bytecode=True)
    build(first, store, environ)
    site = next(Path(store.environment(first.key), "lib").glob("python*/site-packages"))
    (site / "later-1.0.dist-info").mkdir()
    (site / "later-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: later\nVersion: 1.0\n")
    (site / "later/old/__pycache__").mkdir(parents=True)
    (site / "later/old/gone.py").write_text("V = 0\n")
    result = build(jobs.job(all_, late_wheels=wheels, bytecode=True), store, environ)
    assert result.ok, result.error
    assert not (site / "later/old").exists()
    assert (site / "later/own.py").read_text() == "V = 2\n"


def test_a_damaged_earlier_stage_is_named_and_nothing_is_ready(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "wheels", "later")
    all_ = [part for part in parts(index) if part[0].name != "latest"]
    first = jobs.job(all_, pending=("later",))
    build(first, store, environ)
    site = next(Path(store.environment(first.key), "lib").glob("python*/site-packages"))
    (site / "alpha/deep/own.py").unlink()
    error = build(jobs.job(all_, late_wheels=wheels), store, environ).error
    assert error is not None
    assert "alpha" in error.what
    assert "build the image anew" in str(error.todo)
    assert layout.state(store, first.key)[0] == State.PARTIAL
    assert not (site / "later").exists()
