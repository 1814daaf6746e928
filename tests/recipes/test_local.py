"""Digests of local sources see what a build would see, and nothing of what caches leave behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from greenroom.recipes import local

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = {
    "pyproject.toml": '[project]\nname = "lib"\n[tool.uv]\ncache-keys = [{file = "lib/*.in"}]\n',
    "lib/__init__.py": "V = 1\n",
    "lib/data.in": "x",
    "run.sh": "#!/bin/sh\n",
}


@pytest.fixture
def tree(project: Callable[..., Path]) -> Path:
    return project(FILES, at="lib")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a module": lambda tree: (tree / "lib/__init__.py").write_text("V = 2\n"),
    "a new file": lambda tree: (tree / "lib/new.py").write_text(""),
    "a removed file": lambda tree: (tree / "lib/data.in").unlink(),
    "a renamed file": lambda tree: (tree / "lib/data.in").rename(tree / "lib/other.in"),
    "an executable bit": lambda tree: (tree / "run.sh").chmod(0o755),
    "a link": lambda tree: (tree / "link").symlink_to("lib"),
    "a module named build": lambda tree: (tree / "lib/build.py").write_text(""),
    "a folder named dist inside": lambda tree: write(tree / "lib/dist/x.py"),
}
TRACES: dict[str, Callable[[Path], object]] = {
    "times": lambda tree: os.utime(tree / "lib/__init__.py", ns=(1, 1)),
    "modes": lambda tree: (tree / "lib/__init__.py").chmod(0o600),
    "bytecode": lambda tree: write(tree / "lib/__pycache__/x.cpython-311.pyc"),
    "git": lambda tree: write(tree / ".git/HEAD"),
    "an environment": lambda tree: write(tree / "my env/pyvenv.cfg"),
    "a cache": lambda tree: write(tree / "store/CACHEDIR.TAG"),
    "a build": lambda tree: write(tree / "build/lib/x.py"),
    "a built wheel": lambda tree: write(tree / "dist/x.whl"),
    "metadata of a build": lambda tree: write(tree / "lib.egg-info/PKG-INFO"),
    "a tool's cache": lambda tree: write(tree / ".mypy_cache/x"),
    "an empty folder": lambda tree: (tree / "empty").mkdir(),
    "a file beside": lambda tree: write(tree.parent / "beside.py"),
}


def write(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_text("x")


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_source_changes_the_digest(name: str, tree: Path) -> None:
    before = local.tree_digest(str(tree))
    CHANGES[name](tree)
    assert local.tree_digest(str(tree)) != before


@pytest.mark.parametrize("name", TRACES)
def test_what_work_leaves_behind_does_not(name: str, tree: Path) -> None:
    before = local.tree_digest(str(tree))
    TRACES[name](tree)
    assert local.tree_digest(str(tree)) == before


def test_content_that_moves_between_files_is_seen(project: Callable[..., Path]) -> None:
    one = project({"ab": "", "a": "b"}, at="one")
    other = project({"a": "", "ab": "b"}, at="other")
    assert local.tree_digest(str(one)) != local.tree_digest(str(other))


def test_the_place_of_a_tree_makes_no_difference(tree: Path, project: Callable[..., Path]) -> None:
    other = project(FILES, at="else/where")
    assert local.tree_digest(str(other)) == local.tree_digest(str(tree))
    assert local.metadata_digest(str(other)) == local.metadata_digest(str(tree))


def test_an_absent_source_has_the_empty_digest(tmp_path: Path) -> None:
    assert local.tree_digest(str(tmp_path / "gone")) == ""
    assert local.metadata_digest(str(tmp_path / "gone")) == ""
    assert local.file_digest(str(tmp_path / "gone")) == ""
    assert local.tree_files(str(tmp_path / "gone")) == (str(tmp_path / "gone"),)


def test_metadata_is_the_declared_files_and_not_the_code(tree: Path) -> None:
    before = local.metadata_digest(str(tree))
    (tree / "lib/__init__.py").write_text("V = 2\n")
    assert local.metadata_digest(str(tree)) == before
    (tree / "lib/data.in").write_text("y")
    changed = local.metadata_digest(str(tree))
    assert changed != before
    (tree / "setup.cfg").write_text("[metadata]\n")
    assert local.metadata_digest(str(tree)) != changed


def test_watched_files_and_folders_show_every_change(tree: Path) -> None:
    watched = local.tree_files(str(tree))
    for place in (tree, tree / "lib", tree / "lib/__init__.py", tree / "pyproject.toml"):
        assert str(place) in watched
    assert not any(".git" in place for place in watched)


def test_changed_metadata_is_said_once_it_was_known() -> None:
    said = local.changes(
        (("a", "1"), ("b", "1"), ("c", "")), (("a", "2"), ("b", "1"), ("c", "3"), ("d", "4"))
    )
    assert said == ("the metadata of a changed (entry points, build system or version)",)
    assert local.changes((("a", "1"),), (("a", ""),)) == ()


def test_names_that_are_no_text_are_digested(tree: Path) -> None:
    before = local.tree_digest(str(tree))
    Path(os.fsdecode(os.fsencode(str(tree)) + b"/\xff\n'.py")).write_text("x")
    assert local.tree_digest(str(tree)) != before
