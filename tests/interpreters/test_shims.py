"""A PATH with shims is read as what the shims choose from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from greenroom.interpreters import shims

if TYPE_CHECKING:
    from pathlib import Path


def _installations(root: Path, *versions: str, at: str = "versions") -> Path:
    for version in versions:
        programs = root / at / version / "bin"
        programs.mkdir(parents=True)
        (programs / "python").write_text("")
        (programs / f"python{'.'.join(version.split('.')[:2])}").write_text("")
    (root / "shims").mkdir(parents=True)
    return root / "shims"


def test_shims_are_replaced_by_the_installations_newest_first(tmp_path: Path) -> None:
    folder = _installations(
        tmp_path, "3.9.18", "3.13.0", "3.13.0rc1", "3.12.1", "pypy3.10-7.3.15", "3.6.15", "2.7.18", "3.13.0t"
    )
    names = ("3.13.0", "3.13.0t", "3.13.0rc1", "3.12.1", "3.9.18", "pypy3.10-7.3.15")
    expected = [f"{tmp_path}/versions/{name}/bin" for name in names]
    path = os.pathsep.join(("/usr/bin", f"{folder}/", "/bin"))
    assert shims.unwrapped(path).split(os.pathsep) == ["/usr/bin", *expected, "/bin"]


def test_environments_and_files_among_the_installations_are_left_out(tmp_path: Path) -> None:
    folder = _installations(tmp_path, "3.12.1", "3.11.1")
    (tmp_path / "versions/3.12.1/pyvenv.cfg").write_text("")
    (tmp_path / "versions/3.13.9").write_text("")
    assert shims.unwrapped(str(folder)) == f"{tmp_path}/versions/3.11.1/bin"


def test_other_tools_keep_their_installations_elsewhere(tmp_path: Path) -> None:
    folder = _installations(tmp_path, "3.12.1", at="installs/python")
    assert shims.unwrapped(str(folder)) == f"{tmp_path}/installs/python/3.12.1/bin"


def test_relative_and_repeated_entries_are_left_out(tmp_path: Path) -> None:
    assert shims.unwrapped(f":.:bin:/bin:{tmp_path}:/bin:") == f"/bin:{tmp_path}"


def test_shims_without_installations_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "shims").mkdir()
    assert shims.unwrapped(f"{tmp_path}/shims") == ""
    assert shims.behind(f"{tmp_path}/shims/python3.12") is None


def test_behind_a_shim_is_the_newest_program_of_its_name(tmp_path: Path) -> None:
    folder = _installations(tmp_path, "3.12.1", "3.12.7", "3.13.0")
    assert shims.behind(f"{folder}/python3.12") == f"{tmp_path}/versions/3.12.7/bin/python3.12"
    assert shims.behind(f"{folder}/python") == f"{tmp_path}/versions/3.13.0/bin/python"
    assert shims.behind("/usr/bin/python3") is None
