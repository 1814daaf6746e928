"""Collection removes what nobody needs, and nothing else, and says what the disk got back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.capabilities import needs_linux
from tests.support.storing import KEY, OTHER, record_of

from greenroom.recipes.keys import wheel_key
from greenroom.recipes.model import Build, BuildInputs, Distribution, Python, Recipe
from greenroom.store import collection, layout, leasing, locking, records, roots, sizes
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.environments import Workshop

    from greenroom.store.collection import Collected, Plan

DAY = 86_400.0
NOW = 1_800_000_000.0
THIRD = "cp313-" + "c" * 24


@pytest.fixture
def store(store_path: Path) -> Store:
    found = Store(path=str(store_path), writable=True)
    layout.prepare(found)
    return found


def read_only(path: str) -> None:
    os.chmod(path, 0o555)  # noqa: S103 - as a ready environment's folders


def add(store: Store, key: str, *, days: float = 0.0, size: int = 10_000) -> None:
    """Write something that counts as an environment, last used ``days`` ago."""
    from dataclasses import replace

    root = store.environment(key)
    os.makedirs(f"{root}/lib")
    Path(f"{root}/lib/data").write_bytes(b"x" * size)
    Path(f"{root}/pyvenv.cfg").touch()
    os.utime(f"{root}/pyvenv.cfg", (NOW - days * DAY, 0))
    records.write(store, replace(record_of(key), built_at=NOW - days * DAY))
    read_only(f"{root}/lib")
    read_only(root)


def removed(found: Plan | Collected) -> list[str]:
    return [item.name for item in found.items if item.kind == "environment"]


def test_what_nothing_uses_is_removed_and_a_plan_removes_nothing(store: Store) -> None:
    collection.collect(store, now=NOW)  # makes its lock
    add(store, KEY)
    planned = collection.plan(store, now=NOW)
    assert removed(planned) == [KEY]
    assert layout.state(store, KEY)[0] == State.READY
    before = sum(sizes.inodes(store.path).values())
    done = collection.collect(store, now=NOW)
    assert removed(done) == [KEY]
    assert done.freed == planned.freed == before - sum(sizes.inodes(store.path).values())
    assert layout.keys(store) == ()
    assert os.listdir(store.trash) == []
    assert not done.busy


def test_what_a_declaration_uses_stays_until_it_is_gone(store: Store, tmp_path: Path) -> None:
    declaration = tmp_path / "greenroom.toml"
    declaration.touch()
    add(store, KEY)
    add(store, OTHER)
    assert roots.register(store, str(declaration), [KEY])
    done = collection.collect(store, now=NOW)
    assert removed(done) == [OTHER]
    assert [(kept.key, kept.reason) for kept in done.kept] == [(KEY, f"used by {declaration}")]
    declaration.unlink()
    done = collection.collect(store, now=NOW)
    assert removed(done) == [KEY]
    assert os.listdir(store.roots) == []


def test_a_torn_registration_lets_nothing_go_that_it_may_name(store: Store, tmp_path: Path) -> None:
    add(store, KEY)
    (tmp_path / "greenroom.toml").touch()
    roots.register(store, str(tmp_path / "greenroom.toml"), [KEY])
    (file,) = Path(store.roots).iterdir()
    file.write_bytes(b"")
    planned = collection.plan(store, now=NOW)
    assert removed(planned) == []
    assert [(kept.key, str(file) in kept.reason) for kept in planned.kept] == [(KEY, True)]
    file.unlink()
    assert removed(collection.plan(store, now=NOW)) == [KEY]


def test_a_declaration_of_another_host_counts_for_a_month(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    add(store, KEY)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "gethostname", lambda: "elsewhere")
        roots.register(store, "/only/there/greenroom.toml", [KEY])
    at = time.time()
    assert removed(collection.plan(store, now=at + 29 * DAY)) == []
    assert removed(collection.plan(store, now=at - 1000 * DAY)) == []
    assert removed(collection.plan(store, now=at + 31 * DAY)) == [KEY]


def test_registering_again_writes_nothing_and_a_read_only_store_is_left_alone(
    store: Store, tmp_path: Path
) -> None:
    assert roots.register(store, "/x", [KEY, OTHER])
    (file,) = Path(store.roots).iterdir()
    before = file.stat().st_mtime_ns
    assert roots.register(store, "/x", [OTHER, KEY, KEY])
    assert file.stat().st_mtime_ns == before
    assert roots.register(store, "/x", [KEY])
    assert [root.keys for root in roots.read_all(store)] == [(KEY,)]
    file.write_text("nonsense")
    assert roots.read_all(store) == ()
    assert not roots.register(Store(path=f"{tmp_path}/none", writable=False), "/x", [KEY])


def test_recent_use_keeps_and_the_clock_may_jump_back(store: Store) -> None:
    add(store, KEY, days=5)
    add(store, OTHER, days=15)
    assert removed(collection.plan(store, keep_days=10, now=NOW)) == [OTHER]
    assert removed(collection.plan(store, keep_days=3, now=NOW)) == [OTHER, KEY]
    assert removed(collection.plan(store, keep_days=1, now=NOW - 100 * DAY)) == []


def test_the_least_recently_used_go_first_until_the_store_is_small_enough(store: Store) -> None:
    for days, key in ((1, KEY), (9, OTHER), (5, THIRD)):
        add(store, key, days=days, size=1_000_000)
    assert removed(collection.plan(store, max_size=10_000_000, now=NOW)) == []
    assert removed(collection.plan(store, max_size=2_500_000, now=NOW)) == [OTHER]
    assert removed(collection.plan(store, max_size=1_500_000, now=NOW)) == [OTHER, THIRD]
    assert removed(collection.plan(store, max_size=0, now=NOW)) == [OTHER, THIRD, KEY]
    assert removed(collection.plan(store, max_size=0, keep_days=6, now=NOW)) == [OTHER]


def test_files_that_others_link_are_not_counted_as_freed(store: Store) -> None:
    add(store, KEY, size=1_000_000)
    add(store, OTHER, size=0)
    os.chmod(f"{store.environment(OTHER)}/lib", 0o700)
    os.link(f"{store.environment(KEY)}/lib/data", f"{store.environment(OTHER)}/lib/more")
    read_only(f"{store.environment(OTHER)}/lib")
    both = collection.plan(store, now=NOW).freed
    roots.register(store, store.path, [OTHER])
    alone = collection.plan(store, now=NOW).freed
    assert alone < 100_000
    assert both > 1_000_000


def test_what_greenroom_started_keeps_its_environment(store: Store) -> None:
    add(store, KEY)
    descriptor = leasing.lease(store.record(KEY))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[descriptor]) as child:
        os.close(descriptor)
        done = collection.collect(store, now=NOW)
        assert removed(done) == []
        assert "in use" in done.kept[0].reason
        child.communicate()
    assert removed(collection.collect(store, now=NOW)) == [KEY]


@needs_linux
@pytest.mark.parametrize("how", ["argument", "variable", "path"])
def test_processes_that_were_started_otherwise_are_found(store: Store, how: str) -> None:
    add(store, KEY)
    root = store.environment(KEY)
    arguments = ["cat", "-", f"{root}/lib/data"] if how == "argument" else ["cat"]
    variables = {"variable": {"VIRTUAL_ENV": root}, "path": {"PATH": f"/bin:{root}/bin"}}.get(how, {})
    with subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", **variables},
    ) as child:
        done = collection.plan(store, now=NOW)
        assert removed(done) == []
        assert f"cat (process {child.pid})" in done.kept[0].reason
        child.communicate()
    assert removed(collection.plan(store, now=NOW)) == [KEY]


def test_what_is_being_built_stays_with_everything_that_builds_may_use(store: Store) -> None:
    add(store, KEY)
    os.makedirs(f"{store.building}/{OTHER}.123456/lib")
    os.makedirs(f"{store.building}/{KEY}.123456/lib")
    os.makedirs(store.wheel("cp311-" + "w" * 24))
    with locking.hold(store.lock(KEY), "app.Worker"):
        done = collection.collect(store, now=NOW)
        assert removed(done) == []
        assert done.busy
        assert "is being built by process" in done.kept[0].reason
        assert len(os.listdir(store.building)) == 2
        assert os.listdir(store.wheels)
    done = collection.collect(store, now=NOW)
    assert removed(done) == [KEY]
    assert {item.kind for item in done.items} == {"environment", "build", "wheel"}
    assert os.listdir(store.building) == os.listdir(store.wheels) == []


def test_wheels_stay_while_an_environment_was_built_with_them(store: Store) -> None:
    from dataclasses import replace

    build = Build(source="sha256:" + "0" * 64, subdirectory=None, inputs=BuildInputs())
    python = Python(path="/p", implementation="cpython", version="3.11.7", abi="cp311")
    recipe = Recipe(python=python, distributions=(Distribution(name="a", version="1", content=build),))
    add(store, KEY)
    os.unlink(store.record(KEY))
    records.write(store, replace(record_of(KEY), recipe=recipe))
    kept, other = wheel_key(build, python), "cp311-" + "w" * 24
    for name in (kept, other):
        os.makedirs(store.wheel(name))
    roots.register(store, store.path, [KEY])
    collection.collect(store, now=NOW)
    assert os.listdir(store.wheels) == [kept]


def test_what_a_newer_greenroom_built_is_never_garbage(store: Store) -> None:
    add(store, KEY)
    os.unlink(store.record(KEY))
    Path(store.record(KEY)).write_text('{"schema": 99}')
    done = collection.collect(store, max_size=0, now=NOW)
    assert removed(done) == []
    assert "newer greenroom" in done.kept[0].reason


def test_leftovers_and_damaged_ones_go_even_when_they_are_young(store: Store) -> None:
    add(store, KEY)
    os.unlink(store.record(KEY))
    add(store, OTHER)
    os.truncate(store.record(OTHER), 10)
    done = collection.collect(store, keep_days=1000, max_size=10**12, now=NOW)
    assert sorted(removed(done)) == sorted([KEY, OTHER])
    assert {item.reason for item in done.items} == {"left by a build that died", "its record is damaged"}


def test_what_is_no_environment_is_never_touched(store: Store) -> None:
    strange = Path(store.path) / "notes"
    strange.mkdir()
    (strange / "keep").touch()
    collection.collect(store, max_size=0, now=NOW)
    assert (strange / "keep").exists()


def test_old_logs_go_and_those_of_environments_stay(store: Store) -> None:
    from dataclasses import replace

    add(store, KEY)
    os.unlink(store.record(KEY))
    records.write(store, replace(record_of(KEY), log="used.log"))
    roots.register(store, store.path, [KEY])
    for name, days in (("used.log", 90), ("old.log", 90), ("young.log", 2)):
        Path(f"{store.logs}/{name}").touch()
        os.utime(f"{store.logs}/{name}", (NOW, NOW - days * DAY))
    collection.collect(store, now=NOW)
    assert sorted(os.listdir(store.logs)) == ["used.log", "young.log"]


def test_bytecode_goes_with_the_last_environment_that_links_it(workshop: Workshop) -> None:
    store = workshop.store
    alpha = workshop.wheel("alpha", files={"alpha/code.py": "X = 'alpha'\n" * 2000})
    first = workshop.environment(alpha, bytecode=True, link_mode="copy")
    second = workshop.environment(alpha, workshop.wheel("beta", "7"), bytecode=True, link_mode="copy")
    roots.register(store, store.path, [first.record.key])
    compiled = list(Path(store.bytecode).rglob("*.pyc"))
    Path(f"{compiled[0]}.tmp123").touch()
    planned = collection.plan(store)
    done = collection.collect(store)
    assert (removed(done), done.freed) == ([second.record.key], planned.freed)
    assert len(list(Path(store.bytecode).rglob("*.pyc"))) == len(compiled) - 1
    assert len([path for path in Path(store.bytecode).rglob("*") if path.is_file()]) == len(compiled) - 1
    roots.register(store, store.path, [])
    before = sum(sizes.inodes(store.path).values())
    done = collection.collect(store)
    assert removed(done) == [first.record.key]
    assert list(Path(store.bytecode).rglob("*.pyc")) == []
    assert done.freed == before - sum(sizes.inodes(store.path).values())


def test_what_a_killed_removal_left_in_the_trash_is_removed(store: Store) -> None:
    os.makedirs(f"{store.trash}/{KEY}.abc/lib")
    read_only(f"{store.trash}/{KEY}.abc")
    done = collection.collect(store, now=NOW)
    assert [item.kind for item in done.items] == ["trash"]
    assert os.listdir(store.trash) == []


def test_two_collections_at_once_do_not_disturb_each_other(store: Store) -> None:
    for number in range(8):
        add(store, "cp311-" + "abcdefgh"[number] * 24)
    code = (
        "import sys; from greenroom.store import collection; from greenroom.store.layout import Store;"
        f"print(len(collection.collect(Store(path={store.path!r}, writable=True)).items))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4, outputs
    assert layout.keys(store) == ()
    assert os.listdir(store.trash) == []
    shutil.rmtree(store.path)
