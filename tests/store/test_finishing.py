"""Modes whatever the umask, read-only folders, other users, and post-install changes."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import pythons
from tests.support.capabilities import as_nobody, needs_other_patch, needs_unprivileged_user
from tests.support.environments import Workshop
from tests.support.workspace import script

from greenroom.errors import BuildFailed
from greenroom.recipes import keys
from greenroom.store import finishing, layout, moving
from greenroom.store.layout import Store
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def public(public_path: Path, uv_cache: Path) -> Iterator[Workshop]:
    """Open a workshop that other users can enter, with an interpreter that they can start."""
    python = pythons.other_patch().path
    reachable = subprocess.run([*as_nobody(), python, "-c", ""], check=False, capture_output=True)
    if reachable.returncode:
        pytest.skip("no interpreter that another user can start")
    store = Store(path=f"{public_path}/store", writable=True)
    with Group() as group:
        yield Workshop(directory=public_path, store=store, uv_cache=uv_cache, group=group, python=python)
    if os.path.isdir(store.path):
        for key in layout.keys(store):
            moving.discard(store, store.environment(key))


def modes(root: str) -> dict[str, int]:
    return {
        str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode)
        for path in (Path(root), *Path(root).rglob("*"))
        if not path.is_symlink()
    }


@needs_unprivileged_user
@needs_other_patch
@pytest.mark.parametrize("umask", [0o077, 0o000, 0o022])
@pytest.mark.parametrize("link_mode", ["copy", "hardlink"])
def test_another_user_launches_what_was_built_under_any_umask(
    public: Workshop, umask: int, link_mode: str
) -> None:
    before = os.umask(umask)
    try:
        made = public.wheel(
            "alpha", scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": "def main(): print(7)\n"}
        )
        done = public.environment(made, link_mode=link_mode, bytecode=True)
    finally:
        os.umask(before)
    found = modes(done.path)
    for path, mode in found.items():
        assert mode & 0o444 == 0o444, path
        assert not mode & 0o022, path
    folders = {path for path in found if os.path.isdir(f"{done.path}/{path}")}
    assert {found[path] for path in folders} == {0o555}
    command = [*as_nobody(), f"{done.path}/bin/alpha"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "7\n"
    code = "import alpha, sys; print(alpha.__cached__, sys.prefix)"
    command = [*as_nobody(), f"{done.path}/bin/python", "-c", code]
    cached, prefix = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert os.path.isfile(cached)
    assert prefix == done.path


@needs_unprivileged_user
@needs_other_patch
def test_a_stray_install_by_its_owner_fails_and_changes_nothing(public: Workshop) -> None:
    done = public.environment(public.wheel("alpha"))
    stray = public.wheel("stray")
    own = public.directory / "nobody"
    own.mkdir()
    subprocess.run(["chown", "-R", "-h", "65534:65534", public.store.path, str(own)], check=True)
    before = modes(done.path)
    found = subprocess.run(
        [
            *as_nobody(),
            script("uv"),
            "pip",
            "install",
            "--no-deps",
            "--python",
            f"{done.path}/bin/python",
            stray.path,
        ],
        env={
            "HOME": str(own),
            "UV_CACHE_DIR": str(own / "cache"),
            "UV_OFFLINE": "1",
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    subprocess.run(["chown", "-R", "-h", "0:0", public.store.path], check=True)
    assert found.returncode == 2, found
    assert "Permission denied" in found.stderr
    assert modes(done.path) == before


def test_removal_gives_write_permission_back_first(workshop: Workshop) -> None:
    done = workshop.environment(workshop.wheel("alpha"))
    finishing.restore(done.path)
    for path, mode in modes(done.path).items():
        if os.path.isdir(f"{done.path}/{path}"):
            assert mode & 0o700 == 0o700
    moving.discard(workshop.store, done.path)
    moving.discard(workshop.store, done.path)
    assert layout.keys(workshop.store) == ()
    assert os.listdir(workshop.store.trash) == []


def test_a_flush_reaches_the_disk_of_the_store(workshop: Workshop) -> None:
    layout.prepare(workshop.store)
    finishing.flush(workshop.store.path)


def test_declared_commands_may_change_files_and_nothing_is_changed_through_links(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", files={"alpha/patched.txt": "before", "alpha/removed.txt": "x"})
    untouched = workshop.environment(made)
    recipe = workshop.recipe(made, post_install=(("patch",),))

    def change(root: str) -> None:
        (patched,) = Path(root).rglob("patched.txt")
        with patched.open("r+") as file:
            file.write("after!")
        patched.with_name("removed.txt").unlink()
        (Path(root) / "share").mkdir()
        (Path(root) / "share" / "made, by.txt").write_text("post-install")

    done = workshop.commit(workshop.private(keys.key(recipe), made), recipe, on_moved=change)
    assert done.record.added == ("share/made, by.txt",)
    (patched,) = Path(done.path).rglob("patched.txt")
    (other,) = Path(untouched.path).rglob("patched.txt")
    assert (patched.read_text(), other.read_text()) == ("after!", "before")
    assert workshop.environment(made, bytecode=True).record.added == ()


def test_nothing_remains_when_a_declared_command_fails(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    recipe = workshop.recipe(made, post_install=(("patch",),))

    def fail(_root: str) -> None:
        raise BuildFailed("it failed", components=("app",), key="x", phase="install", log="")

    with pytest.raises(BuildFailed):
        workshop.commit(workshop.private(keys.key(recipe), made), recipe, on_moved=fail)
    assert layout.keys(workshop.store) == ()
