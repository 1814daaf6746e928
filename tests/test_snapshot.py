"""The no-op road's memory: it answers only while everything is as it was."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

LONG_AGO = 1_000_000_000_123_456_789
"""A time that is old and no whole second."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}


def _write(path: Path, text: str, mtime: int = LONG_AGO) -> Path:
    path.write_text(text)
    os.utime(path, ns=(mtime, mtime))
    return path


@pytest.fixture
def kept(tmp_path: Path, environ: dict[str, str]) -> Callable[..., Path]:
    """Keep the memory of a project with one ready and one missing environment, and a driver."""

    def keep(**changed: Any) -> Path:
        declaration = _write(tmp_path / "greenroom.toml", "[actors]\n")
        lock = _write(tmp_path / "uv.lock", "version = 1\n")
        store = tmp_path / "store"
        (store / "cp311-a").mkdir(parents=True, exist_ok=True)
        record = _write(store / "cp311-a" / "greenroom.json", "{}")
        base = snapshot.look(sys.executable, content=False)
        absent = tmp_path / ".python-version"
        launch: dict[str, Any] = {"variables": [], "env_file": None, "bytecode": True}
        data = {
            "schema": snapshot.SCHEMA,
            "identity": snapshot.identity(str(declaration), environ),
            "declaration": str(declaration),
            "written": time.time_ns(),
            "variables": {},
            "stores": [str(store)],
            "files": [snapshot.look(str(path)) for path in (declaration, lock, absent)],
            "files_of_declaration": [0],
            "environments": {
                "cp311-a": {
                    "state": "ready",
                    "reason": "",
                    "path": str(store / "cp311-a"),
                    "interpreter": str(store / "cp311-a/bin/python"),
                    "python": "3.11.7",
                    "record": snapshot.look(str(record), content=False)[:4],
                    "base": 0,
                },
                "cp311-b": {
                    "state": "missing",
                    "reason": "not built",
                    "path": str(store / "cp311-b"),
                    "interpreter": str(store / "cp311-b/bin/python"),
                    "python": "3.11.7",
                    "record": None,
                    "base": 0,
                },
            },
            "components": {
                "app.A": {
                    "kind": "actor",
                    "key": "cp311-a",
                    "state": "ready",
                    "files": [1, 2],
                    "launch": launch,
                },
                "app.B": {
                    "kind": "actor",
                    "key": "cp311-b",
                    "state": "missing",
                    "files": [1],
                    "launch": launch,
                },
                "app.C": {
                    "kind": "actor",
                    "key": None,
                    "state": "driver",
                    "files": [],
                    "launch": launch,
                    "interpreter": sys.executable,
                    "python": "3.11.7",
                    "base": 0,
                },
            },
            "bases": [[base[0], base[3], base[1], base[2]]],
            "notes": [],
            "outputs": [],
        }
        file = snapshot.place(str(declaration), environ)
        assert file is not None
        assert snapshot.save(file, data | changed)
        return declaration

    return keep


def _states(declaration: Path, environ: dict[str, str]) -> dict[str, str] | None:
    memory = snapshot.load(str(declaration), environ)
    answers = None if memory is None else memory.answers()
    return None if answers is None else {answer.name: answer.state for answer in answers}


def test_it_answers_for_every_component_while_nothing_changed(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    assert _states(kept(), environ) == {"app.A": "ready", "app.B": "missing", "app.C": "driver"}


def test_a_changed_lock_leaves_the_answer_to_the_full_road(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    declaration = kept()
    declaration.with_name("uv.lock").write_text("version = 2\n")
    memory = snapshot.load(str(declaration), environ)
    assert memory is not None
    assert memory.answer("app.A") is None
    assert memory.answer("app.C") is not None, "the driver's interpreter has nothing to do with the lock"


def test_a_changed_declaration_leaves_everything_to_the_full_road(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    declaration = kept()
    declaration.write_text("[actors]\n# more\n")
    assert snapshot.load(str(declaration), environ) is None


def test_a_file_that_was_absent_and_is_there_counts_as_changed(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    declaration = kept()
    declaration.with_name(".python-version").write_text("3.12")
    memory = snapshot.load(str(declaration), environ)
    assert memory is not None
    assert memory.answer("app.A") is None
    assert memory.answer("app.B") is not None


def test_a_touched_file_of_the_same_content_counts_as_unchanged_and_is_remembered_so(
    kept: Callable[..., Path], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    declaration = kept()
    _write(declaration.with_name("uv.lock"), "version = 1\n", LONG_AGO + 7)
    memory = snapshot.load(str(declaration), environ)
    assert memory is not None
    assert memory.answers() is not None
    memory.refresh()
    monkeypatch.setattr(snapshot, "digest_of", lambda _: pytest.fail("a content was read again"))
    assert _states(declaration, environ) is not None


def test_an_edit_within_a_tick_of_the_clock_is_seen(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    declaration = kept()
    lock = declaration.with_name("uv.lock")
    found = lock.stat()
    kept(written=found.st_mtime_ns + 1_000_000)
    _write(lock, "version = 9\n", found.st_mtime_ns)
    assert lock.stat().st_ino == found.st_ino
    memory = snapshot.load(str(declaration), environ)
    assert memory is None or memory.answer("app.A") is None


def test_an_edit_within_the_second_of_a_coarse_file_system_is_seen(
    kept: Callable[..., Path], environ: dict[str, str], tmp_path: Path
) -> None:
    kept()
    second = 1_000_000_000_000_000_000
    lock = _write(tmp_path / "uv.lock", "version = 1\n", second)
    data = json.loads(Path(str(snapshot.place(str(tmp_path / "greenroom.toml"), environ))).read_text())
    data["files"][1] = snapshot.look(str(lock))
    kept(written=second + 900_000_000, files=data["files"])
    _write(lock, "version = 9\n", second)
    memory = snapshot.load(str(tmp_path / "greenroom.toml"), environ)
    assert memory is None or memory.answer("app.A") is None


@pytest.mark.parametrize("change", ["gone", "rewritten"])
def test_a_record_that_is_not_the_same_leaves_the_answer_to_the_full_road(
    kept: Callable[..., Path], environ: dict[str, str], tmp_path: Path, change: str
) -> None:
    declaration = kept()
    record = tmp_path / "store" / "cp311-a" / "greenroom.json"
    if change == "gone":
        record.unlink()
    else:
        record.write_text('{"another": 1}')
    memory = snapshot.load(str(declaration), environ)
    assert memory is not None
    assert memory.answer("app.A") is None


def test_an_environment_that_was_built_meanwhile_is_not_called_missing(
    kept: Callable[..., Path], environ: dict[str, str], tmp_path: Path
) -> None:
    declaration = kept()
    (tmp_path / "store" / "cp311-b").mkdir()
    memory = snapshot.load(str(declaration), environ)
    assert memory is not None
    assert memory.answer("app.B") is None


def test_a_replaced_base_interpreter_leaves_the_answer_to_the_full_road(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    declaration = kept(bases=[[sys.executable, 1, 2, 3]])
    memory = snapshot.load(str(declaration), environ)
    assert memory is not None
    assert memory.answer("app.A") is None
    assert memory.answer("app.C") is None


@pytest.mark.parametrize("name", ["GREENROOM_STORE", "GREENROOM_DRIVER", "XDG_DATA_HOME"])
def test_other_surroundings_have_a_memory_of_their_own(
    kept: Callable[..., Path], environ: dict[str, str], name: str
) -> None:
    assert snapshot.load(str(kept()), environ | {name: "/elsewhere"}) is None


def test_a_variable_that_decides_a_content_is_compared_by_digest_and_never_written(
    kept: Callable[..., Path], environ: dict[str, str]
) -> None:
    secret = "S3CRETVALUE"
    declaration = kept(variables={"PIN": snapshot.digest_of_value(secret), "UNSET": None})
    assert snapshot.load(str(declaration), environ | {"PIN": secret}) is not None
    assert snapshot.load(str(declaration), environ | {"PIN": "another"}) is None
    assert snapshot.load(str(declaration), environ) is None
    assert snapshot.load(str(declaration), environ | {"PIN": secret, "UNSET": ""}) is None
    assert secret not in Path(str(snapshot.place(str(declaration), environ))).read_text()


def test_a_memory_cut_off_anywhere_is_ignored(kept: Callable[..., Path], environ: dict[str, str]) -> None:
    declaration = kept()
    file = Path(str(snapshot.place(str(declaration), environ)))
    whole = file.read_bytes()
    for length in range(0, len(whole), 17):
        file.write_bytes(whole[:length])
        assert snapshot.load(str(declaration), environ) is None


@given(data=st.data())
def test_a_memory_with_any_part_replaced_never_raises(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        environ = {"XDG_CACHE_HOME": folder}
        declaration = f"{folder}/greenroom.toml"
        Path(declaration).write_text("")
        file = str(snapshot.place(declaration, environ))
        good: dict[str, Any] = {
            "schema": snapshot.SCHEMA,
            "identity": snapshot.identity(declaration, environ),
            "declaration": declaration,
            "written": 1,
            "variables": {},
            "stores": [folder],
            "files": [snapshot.look(declaration)],
            "files_of_declaration": [0],
            "environments": {"k": {"state": "ready", "record": [declaration, 0, 1, 1], "base": 0}},
            "components": {"A": {"kind": "actor", "key": "k", "files": [0], "launch": {}}},
            "bases": [["/bin/sh", 1, 2, 3]],
            "notes": [],
            "outputs": [],
        }
        junk: st.SearchStrategy[Any] = st.recursive(
            st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
            ),
            max_leaves=5,
        )
        good[data.draw(st.sampled_from(sorted(good)))] = data.draw(junk)
        snapshot.save(file, good)
        memory = snapshot.load(declaration, environ)
        if memory is not None:
            memory.answer("A")
            memory.answers()
            memory.refresh()
            assert memory.outputs_stand in {True, False}


def test_a_memory_of_another_user_is_ignored(
    kept: Callable[..., Path], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    declaration = kept()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert snapshot.load(str(declaration), environ) is None


def test_without_a_home_there_is_no_memory_and_no_error(tmp_path: Path) -> None:
    assert snapshot.place(str(tmp_path / "greenroom.toml"), {}) is None
    assert snapshot.load(str(tmp_path / "greenroom.toml"), {}) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not snapshot.save(str(tmp_path / "file" / "below" / "x.json"), {})


def test_a_directory_counts_by_what_it_lists(tmp_path: Path) -> None:
    (tmp_path / "servers").mkdir()
    before = snapshot.look(str(tmp_path / "servers"))
    (tmp_path / "servers" / "temporary").write_text("")
    (tmp_path / "servers" / "temporary").unlink()
    assert snapshot.look(str(tmp_path / "servers"))[4] == before[4]
    (tmp_path / "servers" / "math").mkdir()
    assert snapshot.look(str(tmp_path / "servers"))[4] != before[4]


def test_no_stat_is_taken_twice_for_files_that_components_share(
    kept: Callable[..., Path], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    declaration = kept()
    looked: list[str] = []
    real = os.stat

    def counted(path: str) -> os.stat_result:
        looked.append(path)
        return real(path)

    monkeypatch.setattr(os, "stat", counted)
    assert _states(declaration, environ) is not None
    assert sorted(looked) == sorted(set(looked))
