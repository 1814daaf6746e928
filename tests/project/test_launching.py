"""What a component's process is started with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import CommandNotFound, CommandNotStarted
from greenroom.project import launching

if TYPE_CHECKING:
    from pathlib import Path

names = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="="), min_size=1)
values = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), max_size=8)


@given(environ=st.dictionaries(names | st.sampled_from(launching.REMOVED), values))
def test_nothing_that_a_callers_environment_left_reaches_the_process(environ: dict[str, str]) -> None:
    block = launching.variables(environ, environment="/store/key")
    assert not (block.keys() & set(launching.REMOVED)) - {"VIRTUAL_ENV"}
    assert block["VIRTUAL_ENV"] == "/store/key"
    assert block["PATH"].split(os.pathsep)[0] == "/store/key/bin"
    kept = environ.keys() - set(launching.REMOVED) - {"PATH"}
    assert {name: block[name] for name in kept} == {name: environ[name] for name in kept}


def test_the_callers_own_environment_is_taken_off_path() -> None:
    environ = {"VIRTUAL_ENV": "/driver", "CONDA_PREFIX": "/conda", "PATH": "/driver/bin:/a:/conda/bin:/b"}
    assert launching.variables(environ, environment="/e")["PATH"] == "/e/bin:/a:/b"


def test_a_declared_path_stands_behind_the_environment() -> None:
    block = launching.variables({"PATH": "/callers"}, environment="/e", declared=[("PATH", "/mine:/usr/bin")])
    assert block["PATH"] == "/e/bin:/mine:/usr/bin"


def test_a_declared_pythonpath_is_kept_and_the_callers_is_not() -> None:
    declared = [("PYTHONPATH", "/mine")]
    block = launching.variables({"PYTHONPATH": "/callers"}, environment="/e", declared=declared)
    assert block["PYTHONPATH"] == "/mine"


def test_a_declared_virtual_env_does_not_count() -> None:
    block = launching.variables({}, environment="/e", declared=[("VIRTUAL_ENV", "/x")])
    assert block["VIRTUAL_ENV"] == "/e"


def test_the_drivers_bare_interpreter_gets_no_virtual_environment() -> None:
    block = launching.variables({"VIRTUAL_ENV": "/parent", "PATH": "/parent/bin:/b"}, environment=None)
    assert "VIRTUAL_ENV" not in block
    assert block["PATH"] == "/b"


def test_the_drivers_virtual_environment_is_the_components(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text("")
    launch: dict[str, object] = {"variables": [], "env_file": None, "bytecode": True}
    interpreter = str(tmp_path / "bin/python")
    block = launching.block({}, environment=None, interpreter=interpreter, launch=launch)
    assert block["VIRTUAL_ENV"] == str(tmp_path)


def test_without_bytecode_a_process_does_not_try_to_write_some() -> None:
    assert launching.variables({}, environment="/e", bytecode=False)["PYTHONDONTWRITEBYTECODE"] == "1"
    elsewhere = {"PYTHONPYCACHEPREFIX": "/cache"}
    assert "PYTHONDONTWRITEBYTECODE" not in launching.variables(elsewhere, environment="/e", bytecode=False)


def test_declared_variables_win_over_the_file_of_variables(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("A=file\nB=file\n")
    launch: dict[str, object] = {
        "variables": [["A", "declared"]],
        "env_file": str(tmp_path / "env"),
        "bytecode": True,
    }
    block = launching.block({"A": "c", "B": "c", "C": "c"}, environment="/e", interpreter="x", launch=launch)
    assert (block["A"], block["B"], block["C"]) == ("declared", "file", "c")


def test_python_is_the_interpreter_whatever_path_holds(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("")
    (tmp_path / "python").chmod(0o755)
    assert launching.program(["python", "x"], "/e/bin/python", {"PATH": str(tmp_path)}) == "/e/bin/python"


def test_a_program_is_found_on_the_components_path_only(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("")
    with pytest.raises(CommandNotFound, match="tool"):
        launching.program(["tool"], "/e/bin/python", {"PATH": str(tmp_path)})
    tool.chmod(0o755)
    assert launching.program(["tool"], "/e/bin/python", {"PATH": f"/nowhere:{tmp_path}"}) == str(tool)


def test_a_file_that_is_no_program_is_an_error_of_ours(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("")
    empty.chmod(0o755)
    with pytest.raises(CommandNotStarted, match="empty"):
        launching.execute(str(empty), [str(empty)], {})
    with pytest.raises(CommandNotFound):
        launching.execute(str(tmp_path / "absent"), ["absent"], {})
    with pytest.raises(CommandNotStarted, match="null"):
        launching.execute("/bin/echo", ["echo", "a\0b"], {})
