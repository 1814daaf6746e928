"""An alias starts the store's interpreter, and no tool that meets it gets into the store."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import AliasRefused
from greenroom.store import alias
from greenroom.store.verify import verify

if TYPE_CHECKING:
    from tests.support.environments import Workshop

    from greenroom.store.commit import Committed

WHERE = "import alpha, os, sys; print(sys.prefix, os.environ['VIRTUAL_ENV'], alpha.__version__)"


def ready(workshop: Workshop, version: str = "1") -> Committed:
    source = f"__version__ = '{version}'\ndef main():\n    import sys\n    print(sys.argv[1:])\n"
    made = workshop.wheel(
        "alpha", version, scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": source}
    )
    return workshop.environment(made, bytecode=True)


def run(*command: str, **variables: str) -> str:
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **variables}
    )
    return found.stdout.strip()


def untouched(workshop: Workshop, done: Committed) -> bool:
    return verify(workshop.store, done.record.key, group=workshop.group, deep=True) == ()


NAMES = ["app.policy.Worker", "servers/math", 'it\'s "a" $(touch x)`x` & ü\n;']


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", ["aliases", "my 'aliases' & \"more\" $(touch x)\n"])
def test_programs_of_an_alias_are_the_stores_whatever_the_names(
    workshop: Workshop, name: str, folder: str
) -> None:
    done = ready(workshop)
    path = alias.write(f"{workshop.directory}/{folder}", name, done.path, [("SPEED", 'it\'s $HOME & "more"')])
    assert run(f"{path}/bin/python", "-c", WHERE) == f"{done.path} {done.path} 1"
    assert run(f"{path}/bin/alpha", "a b", "$x", "'") == "['a b', '$x', \"'\"]"
    assert run(f"{path}/bin/python", "-c", "import os; print(os.environ['SPEED'])") == 'it\'s $HOME & "more"'
    first = run(f"{path}/bin/python", "-c", "import os; print(os.environ['PATH'].split(':')[0])")
    assert first == f"{done.path}/bin"
    assert not os.path.lexists(f"{path}/pyvenv.cfg")
    assert not os.path.islink(path)
    assert alias.target(path) == done.path


def test_what_the_caller_left_does_not_reach_it(workshop: Workshop) -> None:
    path = alias.write(f"{workshop.directory}/a", "x", ready(workshop).path)
    assert run(f"{path}/bin/python", "-c", "import alpha", PYTHONHOME="/nowhere", PYTHONPATH="/nowhere") == ""


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_activation_names_the_store_and_can_be_undone(workshop: Workshop, shell: str) -> None:
    done = ready(workshop)
    path = alias.write(f"{workshop.directory}/a b", "x", done.path, [("SPEED", "a 'b'")])
    script = (
        'BEFORE="$PATH"; export PYTHONPATH=/mine; unset SPEED; . "$1"; . "$1";'
        'echo "$VIRTUAL_ENV|$SPEED|$(command -v python)|${PYTHONPATH-unset}";'
        'deactivate; [ "$PATH" = "$BEFORE" ] && echo "${VIRTUAL_ENV-unset}|${SPEED-unset}|$PYTHONPATH"'
    )
    lines = run(shell, "-c", script, "x", f"{path}/bin/activate").splitlines()
    assert lines == [f"{done.path}|a 'b'|{done.path}/bin/python|unset", "unset|unset|/mine"]


def test_a_moved_alias_changes_nothing_for_what_runs(workshop: Workshop) -> None:
    old, new = ready(workshop, "1"), ready(workshop, "2")
    path = alias.write_at(f"{workshop.directory}/server/.venv", old.path)
    code = "print('up', flush=True); input(); import alpha; print(alpha.__version__)"
    with subprocess.Popen(
        [f"{path}/bin/python", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        alias.write_at(path, new.path)
        assert process.communicate("\n")[0].strip() == "1"
    assert run(f"{path}/bin/python", "-c", "import alpha; print(alpha.__version__)") == "2"
    assert os.listdir(os.path.dirname(path)) == [".venv"]


TOOLS = [
    ("pip", "install", "--no-deps", "{stray}"),
    ("pip", "install", "--no-deps", "--python", ".venv/bin/python", "{stray}"),
    ("pip", "install", "--no-deps", "--python", ".venv", "{stray}"),
    ("pip", "uninstall", "--python", ".venv/bin/python", "alpha"),
    ("venv", "--allow-existing", "--python", "{python}"),
    ("venv", "--clear", "--python", "{python}"),
]


@pytest.mark.parametrize("tool", TOOLS, ids=" ".join)
def test_uv_beside_an_alias_never_reaches_the_store(workshop: Workshop, tool: tuple[str, ...]) -> None:
    done = ready(workshop)
    folder = workshop.directory / "server"
    path = alias.write_at(f"{folder}/.venv", done.path)
    stray = workshop.wheel("stray").path
    filled = [word.format(stray=stray, python=workshop.interpreter.path) for word in tool]
    for variables in ({}, {"VIRTUAL_ENV": path}):
        workshop.uv("--directory", str(folder), *filled, check=False, **variables)
    assert untouched(workshop, done)
    assert run(f"{done.path}/bin/python", "-c", "import alpha; print(alpha.__version__)") == "1"


def test_an_installer_is_told_why_it_is_turned_away(workshop: Workshop) -> None:
    done = ready(workshop)
    path = alias.write_at(f"{workshop.directory}/server/.venv", done.path)
    found = workshop.uv("pip", "install", "--python", f"{path}/bin/python", "stray", check=False)
    assert found.returncode
    assert f"greenroom: this stands for {done.path}, into which nothing can be installed" in found.stderr
    command = [f"{path}/bin/python", "-c", "print(1)", "1:get"]
    variables = {**os.environ, "_PIP_RUNNING_IN_SUBPROCESS": "1"}
    assert subprocess.run(command, env=variables, capture_output=True, check=False).returncode == 1
    assert run(*command) == "1"


def test_removing_an_alias_removes_nothing_of_the_store(workshop: Workshop) -> None:
    done = ready(workshop)
    path = alias.write_at(f"{workshop.directory}/server/.venv", done.path)
    subprocess.run(["rm", "-r", path], check=True)
    assert untouched(workshop, done)
    alias.write_at(path, done.path)
    assert alias.remove(path)
    assert not alias.remove(path)
    assert untouched(workshop, done)


def own_venv(path: Path) -> None:
    path.mkdir()
    (path / "pyvenv.cfg").touch()


def own_files(path: Path) -> None:
    path.mkdir()
    (path / "thesis.tex").touch()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (own_venv, "an environment that greenroom did not make"),
        (own_files, "something that greenroom did not make"),
        (Path.touch, "something that greenroom did not make"),
        (lambda path: path.symlink_to("/nowhere"), "a symbolic link"),
    ],
)
def test_what_the_user_put_there_is_never_replaced(workshop: Workshop, make: object, words: str) -> None:
    path = workshop.directory / ".venv"
    assert callable(make)
    make(path)
    with pytest.raises(AliasRefused, match=words):
        alias.write_at(str(path), "/environment")
    assert not alias.remove(str(path))
    assert os.path.lexists(path)


def test_a_variable_that_a_shell_cannot_set_is_refused(workshop: Workshop) -> None:
    with pytest.raises(AliasRefused, match="no name of a variable"):
        alias.write_at(f"{workshop.directory}/x", "/environment", [("A; touch x", "1")])


def test_usual_names_stay_readable() -> None:
    assert alias.escaped("app.policy-x_1") == "app.policy-x_1"
    assert alias.escaped("app.Worker") == "app.+worker"
    assert alias.escaped("servers/math") == "servers=2f=math"


@given(st.lists(st.text(max_size=300), max_size=8, unique=True))
def test_names_never_collide_and_always_fit(names: list[str]) -> None:
    names = [name for name in names if name.isprintable()]
    escaped = [alias.escaped(name) for name in names]
    assert len({text.lower() for text in escaped}) == len(names)
    for text in escaped:
        assert text == text.lower()
        assert len(os.fsencode(text)) <= 255 - 20
        assert "/" not in text
        assert not text.startswith(".")


@given(st.text(max_size=20))
def test_names_that_differ_only_in_case_get_two_aliases(name: str) -> None:
    if name.swapcase() != name:
        assert alias.escaped(name).lower() != alias.escaped(name.swapcase()).lower()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_activation_runs_no_program_that_is_called_deactivate(workshop: Workshop, shell: str) -> None:
    path = alias.write(f"{workshop.directory}/a", "x", ready(workshop).path)
    program = Path(f"{workshop.directory}/is a function/deactivate")
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {workshop.directory}/ran\n")
    program.chmod(0o755)
    run(shell, "-c", 'PATH="$2:$PATH"; . "$1"; . "$1"', "x", f"{path}/bin/activate", str(program.parent))
    assert not os.path.lexists(f"{workshop.directory}/ran")


@pytest.mark.parametrize("keep", [True, False])
def test_a_pythonpath_reaches_programs_only_where_that_is_asked_for(workshop: Workshop, keep: bool) -> None:
    done = ready(workshop)
    path = alias.write_at(f"{workshop.directory}/server/.venv", done.path, keep_pythonpath=keep)
    show = ["-c", "import os; print(os.environ.get('PYTHONPATH'))"]
    expected = "/mine" if keep else "None"
    assert run(f"{path}/bin/python", *show, PYTHONPATH="/mine") == expected
    script = '. "$1"; python -c "$2"; deactivate; echo "$PYTHONPATH"'
    shown = run("bash", "-c", script, "x", f"{path}/bin/activate", show[1], PYTHONPATH="/mine")
    assert shown.splitlines() == [expected, "/mine"]


def test_pip_of_the_environment_itself_installs_nothing_through_an_alias(workshop: Workshop) -> None:
    stub = {
        "pip/__init__.py": "",
        "pip/__main__.py": "import sys; print('pip', sys.argv[1:])\ndef main(): pass\n",
    }
    pip = workshop.wheel(
        "pip", "26", scripts={"pip": "pip.__main__:main", "pip3": "pip.__main__:main"}, files=stub
    )
    done = workshop.environment(pip, bytecode=True)
    path = alias.write_at(f"{workshop.directory}/server/.venv", done.path)
    for command in (["pip"], ["pip3"], ["python", "-m", "pip"]):
        for words in (["install", "x"], ["-q", "install", "x"], ["uninstall", "x"]):
            program = [f"{path}/bin/{command[0]}", *command[1:], *words]
            found = subprocess.run(program, capture_output=True, text=True, check=False)
            assert found.returncode == 1
            assert "nothing can be installed" in found.stderr
    assert run(f"{path}/bin/python", "-m", "pip", "list") == "pip ['list']"
    assert run(f"{path}/bin/python", "-c", "print('-m pip install')") == "-m pip install"
