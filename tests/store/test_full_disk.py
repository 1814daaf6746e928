"""A full disk, no inodes left, a read-only store: an error of one line, and nothing that counts as ready."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.capabilities import needs_namespaces, needs_tmpfs, on_tmpfs

from greenroom.recipes import keys
from greenroom.store import layout, rows

if TYPE_CHECKING:
    from tests.support.environments import Workshop

ROOT = Path(__file__).parents[2]

FULL = """
import os, sys
from contextlib import suppress
from greenroom.errors import StoreFailed
from greenroom.store import layout, locking, records, roots
from greenroom.store.layout import Store
from tests.support.storing import KEY, OTHER, record_of

store = Store(path=sys.argv[1], writable=True)
layout.prepare(store)
for key in (KEY, OTHER):
    os.makedirs(store.environment(key))
records.write(store, record_of(OTHER))
with locking.hold(store.lock(KEY), "a build"):
    pass
fill = "%s/fill" % store.path
with suppress(OSError), open(fill, "wb", buffering=0) as file:
    while True:
        file.write(b"x" * 4096)
with suppress(OSError):
    for number in range(100_000):
        os.mkdir("%s/fill-%d" % (store.path, number))
try:
    records.write(store, record_of(KEY))
except StoreFailed as error:
    print(error)
assert layout.state(store, KEY)[0] == "missing"
assert layout.state(store, OTHER)[0] == "ready"
assert os.listdir(store.environment(KEY)) == []
assert not roots.register(store, "/x", [KEY])
assert os.listdir(store.roots) == []
with locking.hold(store.lock(KEY), "another build with a longer name" * 50):
    print("locked")
os.unlink(fill)
for name in os.listdir(store.path):
    if name.startswith("fill-"):
        os.rmdir("%s/%s" % (store.path, name))
records.write(store, record_of(KEY))
assert layout.state(store, KEY)[0] == "ready"
"""


@needs_tmpfs
@pytest.mark.parametrize("limit", [{"size": "200k"}, {"size": "10m", "inodes": 60}])
def test_a_full_disk_makes_nothing_ready_and_says_what_to_do(
    tmp_path: Path, limit: dict[str, str | int]
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    prefix = on_tmpfs(store, **limit)  # type: ignore[arg-type]
    found = subprocess.run(
        [*prefix, sys.executable, "-c", FULL, str(store)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    first, second = found.stdout.splitlines()
    assert "cannot write the record: No space left on device" in first
    assert "greenroom gc" in first
    assert second == "locked"


READ = """
import os, sys
from greenroom.errors import NoStoreWritable
from greenroom.components import StoreOptions
from greenroom.store import layout, leasing, locking, roots
path, key = sys.argv[1:]
(store,) = layout.stores(StoreOptions(paths=(path,)), {})
assert not store.writable
assert layout.state(store, key) == ("ready", "")
assert layout.find([store], key)
assert not roots.register(store, "/x", [key])
os.close(leasing.lease(store.record(key)))
try:
    layout.building([store])
except NoStoreWritable as error:
    print(error, flush=True)
os.execv(store.interpreter(key), [store.interpreter(key), "-c", "import alpha; print(alpha.__version__)"])
"""


@needs_namespaces
def test_a_read_only_store_launches_and_nothing_is_written(workshop: Workshop) -> None:
    done = workshop.environment(workshop.wheel("alpha"), bytecode=True)
    code = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    found = subprocess.run(
        [
            *on_tmpfs(workshop.directory, size="1m")[:2],
            "sh",
            "-c",
            code,
            workshop.store.path,
            sys.executable,
            "-c",
            READ,
            workshop.store.path,
            done.record.key,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[1:] == ["1.0"]
    assert "no store is writable" in found.stdout


@pytest.mark.parametrize("folder", ["x" * 200, "ünï-cödé-データ"])
def test_long_and_foreign_store_paths_work(workshop: Workshop, folder: str) -> None:
    from dataclasses import replace

    from greenroom.store.layout import Store

    path = f"{workshop.directory}/{folder}"
    here = replace(workshop, store=Store(path=path, writable=True))
    made = here.wheel(
        "alpha", scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": "def main(): print(7)\n"}
    )
    done = here.environment(made, bytecode=True)
    assert (
        subprocess.run([f"{done.path}/bin/alpha"], capture_output=True, text=True, check=True).stdout == "7\n"
    )


def test_a_symbolic_link_as_the_store_keeps_the_path_that_was_named(workshop: Workshop) -> None:
    from dataclasses import replace

    from greenroom.store.layout import Store

    (workshop.directory / "real").mkdir()
    (workshop.directory / "link").symlink_to("real")
    here = replace(workshop, store=Store(path=f"{workshop.directory}/link", writable=True))
    made = here.wheel(
        "alpha", scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": "def main(): print(7)\n"}
    )
    done = here.environment(made, bytecode=True)
    assert done.path == f"{workshop.directory}/link/{done.record.key}"
    assert (
        subprocess.run([f"{done.path}/bin/alpha"], capture_output=True, text=True, check=True).stdout == "7\n"
    )


def test_a_file_that_cannot_be_opened_fails_the_proof_and_not_the_program(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", files={"alpha/x.txt": "x"})
    recipe = workshop.recipe(made)
    private = workshop.private(keys.key(recipe), made, link_mode="copy")
    os.unlink(f"{private}/{rows.site_packages(private)}/alpha/x.txt")
    os.mkfifo(f"{private}/{rows.site_packages(private)}/alpha/x.txt")
    from greenroom.errors import ProofFailed

    with pytest.raises(ProofFailed, match="is no file"):
        workshop.commit(private, recipe)
    assert layout.keys(workshop.store) == ()
