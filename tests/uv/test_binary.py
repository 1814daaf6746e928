"""uv is found, and is new enough."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support.workspace import script

from greenroom.errors import UvBroken, UvMissing, UvTooOld
from greenroom.uv import binary


def _program(path: Path, answer: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return str(path)


def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Take away the uv beside the interpreter, and the installed package."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    monkeypatch.setattr(binary, "_packaged", lambda: None)


def test_the_one_beside_the_interpreter_comes_first(tmp_path: Path) -> None:
    _program(tmp_path / "path/uv", "exit 1")
    assert binary.find({"PATH": str(tmp_path / "path")}) == script("uv")


def test_a_named_one_decides(tmp_path: Path) -> None:
    named = _program(tmp_path / "my uv", "exit 1")
    assert binary.find({"GREENROOM_UV": named}) == named


@pytest.mark.parametrize("make", [False, True])
def test_a_named_one_that_is_no_program_is_an_error(tmp_path: Path, make: bool) -> None:
    path = tmp_path / "uv"
    if make:
        path.write_text("not executable")
    with pytest.raises(UvMissing, match="GREENROOM_UV names"):
        binary.find({"GREENROOM_UV": str(path), "PATH": str(Path(script("uv")).parent)})


def test_the_first_on_path_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _alone(monkeypatch, tmp_path)
    (tmp_path / "one").mkdir()
    two = _program(tmp_path / "two/uv", "exit 1")
    monkeypatch.chdir(tmp_path)
    _program(tmp_path / "uv", "exit 1")
    assert binary.find({"PATH": f":.:{tmp_path / 'one'}:{tmp_path / 'two'}"}) == two


def test_the_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = script("uv")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    assert Path(binary.find({"PATH": ""})).samefile(installed)


def test_no_uv_at_all_is_an_error_that_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _alone(monkeypatch, tmp_path)
    with pytest.raises(UvMissing, match=f"{tmp_path}/bin, /nowhere") as caught:
        binary.find({"PATH": "/nowhere"})
    assert caught.value.status == 2


def test_the_real_one_is_new_enough() -> None:
    assert binary.version(script("uv")).count(".") == 2


@pytest.mark.parametrize("version", ["0.12.9", "0.8.0", "0.13.0rc1"])
def test_an_old_one_is_an_error_that_names_both_versions(tmp_path: Path, version: str) -> None:
    path = _program(tmp_path / "uv", f"echo 'uv {version} (abc 2025-01-01)'")
    with pytest.raises(UvTooOld, match=rf"is uv {version}, at least {binary.FLOOR}"):
        binary.version(path)


@pytest.mark.parametrize("version", ["0.13.0", "0.13.9", "1.0.0", "0.14.0-beta.1"])
def test_a_newer_one_is_taken(tmp_path: Path, version: str) -> None:
    assert binary.version(_program(tmp_path / "uv", f"echo 'uv {version}'"))


@pytest.mark.parametrize("answer", ["echo hello", "echo", "exit 3", "echo 'oh no' >&2; exit 1", "kill -9 $$"])
def test_something_else_is_an_error(tmp_path: Path, answer: str) -> None:
    with pytest.raises(UvBroken, match="does not work as uv"):
        binary.version(_program(tmp_path / "uv", answer))


def test_the_floor_is_what_the_package_requires() -> None:
    from importlib.metadata import requires

    from packaging.requirements import Requirement

    wanted = [Requirement(line) for line in requires("greenroom") or ()]
    (own,) = (requirement.specifier for requirement in wanted if requirement.name == "uv")
    assert own.contains(binary.FLOOR)
    assert not own.contains("0.12.99")
