"""The walk to the declaration without a parser: the same place as with one, or no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from greenroom.project.locating import locate

if TYPE_CHECKING:
    from pathlib import Path


def _tree(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True, exist_ok=True)
    return below


def test_the_nearest_declaration_above_counts(tmp_path: Path) -> None:
    below = _tree(tmp_path, {"greenroom.toml": "", "a/greenroom.toml": ""})
    assert locate(str(below), {}) == str(tmp_path / "a" / "greenroom.toml")


def test_a_pyproject_with_our_table_counts(tmp_path: Path) -> None:
    below = _tree(tmp_path, {"greenroom.toml": "", "a/pyproject.toml": "[ tool.greenroom.actors ]\n"})
    assert locate(str(below), {}) == str(tmp_path / "a" / "pyproject.toml")


def test_a_pyproject_of_another_kind_is_passed_by(tmp_path: Path) -> None:
    below = _tree(tmp_path, {"greenroom.toml": "", "a/pyproject.toml": "[project]\nname = 'x'\n"})
    assert locate(str(below), {}) == str(tmp_path / "greenroom.toml")


@pytest.mark.parametrize("text", ["[tool]\ngreenroom = {}\n", 'dependencies = ["greenroom"]\n'])
def test_what_only_a_parser_can_tell_is_left_to_it(tmp_path: Path, text: str) -> None:
    below = _tree(tmp_path, {"greenroom.toml": "", "a/pyproject.toml": text})
    assert locate(str(below), {}) is None


def test_the_variable_counts_where_no_place_is_given(tmp_path: Path) -> None:
    below = _tree(tmp_path, {"greenroom.toml": "", "a/greenroom.toml": ""})
    environ = {"GREENROOM_PROJECT": str(tmp_path)}
    assert locate(None, environ) == str(tmp_path / "greenroom.toml")
    assert locate(str(below), environ) == str(tmp_path / "a" / "greenroom.toml")
    assert locate(str(tmp_path / "greenroom.toml"), {}) == str(tmp_path / "greenroom.toml")
