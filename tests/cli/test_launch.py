"""``python`` and ``run``: an interpreter by path, one clean environment, and nothing written."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.support import pythons, usual
from tests.support.capabilities import NOBODY, as_nobody, needs_other_patch, needs_unprivileged_user
from tests.support.workspace import Command, write_files

import greenroom as package

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index

TELL = """\
import json, os, shutil, subprocess, sys
child = subprocess.run(["python", "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True)
names = ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON")
print(json.dumps({
    "prefix": sys.prefix, "child": child.stdout.strip(), "first": os.environ["PATH"].split(os.pathsep)[0],
    "tiny": shutil.which("tiny"), **{name: os.environ.get(name) for name in names},
}))
"""
POLLUTION = {
    "VIRTUAL_ENV": "/elsewhere",
    "PYTHONHOME": "/elsewhere",
    "PYTHONPATH": "/elsewhere",
    "CONDA_PREFIX": "/elsewhere",
    "UV_PROJECT_ENVIRONMENT": "/elsewhere",
    "UV_PYTHON": "/elsewhere/bin/python",
    "UV_RUN_RECURSION_DEPTH": "3",
    "__PYVENV_LAUNCHER__": "/elsewhere",
}


def _bearable() -> dict[str, str]:
    # The command itself is Python: it could not start with them.
    return {
        name: value for name, value in POLLUTION.items() if name not in {"PYTHONHOME", "__PYVENV_LAUNCHER__"}
    }


def _tree(*roots: Path) -> dict[Path, tuple[int, int]]:
    paths = (path for root in roots for path in root.rglob("*"))
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_ino) for path in paths}


def test_a_process_finds_itself_its_programs_and_nothing_of_the_callers(
    greenroom: Command, built: Path
) -> None:
    told = json.loads(greenroom("run", "app.A", "--", "python", "-c", TELL, env=_bearable()).stdout)
    prefix = told["prefix"]
    assert prefix == str(Path(greenroom("python", "app.A").stdout.strip()).parent.parent)
    assert (told["child"], told["VIRTUAL_ENV"], told["first"]) == (prefix, prefix, f"{prefix}/bin")
    assert told["tiny"] == f"{prefix}/bin/tiny"
    gone = ("PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON")
    assert {told[name] for name in gone} == {None}
    assert Path(told["VIRTUAL_ENV"], "pyvenv.cfg").is_file()
    del built


def test_a_program_of_the_environment_is_started_by_name(greenroom: Command, built: Path) -> None:
    assert greenroom("run", "app.B", "--", "tiny").stdout == "tiny 1.1.1\n"
    assert greenroom("run", "app.A", "tiny").stdout == "tiny 2.0.0\n", "the two dashes may be left out"
    del built


def test_a_nested_run_has_its_own_environment_and_nothing_of_its_parents(
    greenroom: Command, built: Path
) -> None:
    def nested(*names: str) -> str:
        words = [word for name in names for word in (greenroom.program, "run", name, "--")]
        return greenroom(*words[1:], "python", "-c", TELL).stdout

    inner = json.loads(nested("app.A", "app.B"))
    outer = json.loads(nested("app.A"))
    assert inner["prefix"] == json.loads(nested("app.B"))["prefix"] != outer["prefix"]
    driver = json.loads(nested("app.A", "app.C"))
    assert driver == json.loads(nested("app.C"))
    assert driver["VIRTUAL_ENV"] == driver["prefix"] == str(Path(greenroom.program).parent.parent)
    del built


def test_arguments_arrive_as_they_were_given_and_the_status_comes_back(
    greenroom: Command, built: Path
) -> None:
    words = ["a b", "", "--json", "%s", "é", "$HOME", "'\"", "--", "*"]
    code = "import json, sys; print(json.dumps(sys.argv[1:])); sys.exit(7)"
    run = greenroom("run", "app.A", "--", "python", "-c", code, *words, status=7)
    assert json.loads(run.stdout) == words
    del built


def test_the_process_takes_the_place_of_greenroom(greenroom: Command, built: Path) -> None:
    running = greenroom.start("run", "app.A", "--", "python", "-c", "import os; print(os.getpid())")
    assert running.wait().stdout.strip() == str(running.pid)
    killed = greenroom.start("run", "app.A", "--", "python", "-c", "import os; os.kill(os.getpid(), 9)")
    killed.wait(status=-signal.SIGKILL)
    del built


def test_declared_variables_and_the_file_of_variables_reach_the_process(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    env = '{ MINE = "x y", PYTHONPATH = "/mine" }'
    declaration = f'[actors]\n"app.A" = {{ extras = ["a"], env = {env}, env-file = "v" }}\n'
    usual.write(index, project, uv_lock, {"greenroom.toml": declaration, "v": "MINE=file\nOTHER='é'\n"})
    greenroom("sync")
    code = "import os; print(os.environ['MINE'], os.environ['OTHER'], os.environ['PYTHONPATH'])"
    assert greenroom("run", "app.A", "--", "python", "-c", code).stdout == "x y é /mine\n"


@pytest.mark.parametrize("warm", [True, False], ids=["snapshot", "no snapshot"])
def test_launching_calls_no_uv_writes_nothing_and_needs_no_network(
    greenroom: Command, built: Path, store_path: Path, tmp_path: Path, warm: bool
) -> None:
    (tmp_path / "nothing").mkdir()
    if not warm:
        shutil.rmtree(tmp_path / "home" / ".cache" / "greenroom")
    without: dict[str, str | None] = {"GREENROOM_UV": "/nonexistent", "PATH": str(tmp_path / "nothing")}
    before = _tree(store_path, built, tmp_path / "home")
    interpreter = greenroom("python", "app.A", env=without).stdout.strip()
    assert greenroom("run", "s1", "--", "python", "-c", "print(1)", env=without).stdout == "1\n"
    assert _tree(store_path, built, tmp_path / "home") == before or not warm
    assert _tree(store_path, built) == {
        p: t for p, t in before.items() if (tmp_path / "home") not in p.parents
    }
    assert Path(interpreter).exists()


def test_a_missing_environment_is_status_3_and_the_command_to_type(greenroom: Command, app: Path) -> None:
    for words in (("python", "app.A"), ("run", "app.A", "--", "python")):
        told = greenroom(*words, status=3)
        assert told.stdout == ""
        assert told.stderr == "greenroom: app.A: the environment is not built (greenroom sync app.A)\n"
    server = greenroom("run", "s1", "--", "python", status=3).stderr
    assert "greenroom sync s1" in server, "not locked is not ready too"
    del app


def test_without_a_lock_it_is_missing_and_whoever_writes_the_lock_is_named(
    greenroom: Command, index: Index, project: Callable[..., Path]
) -> None:
    del index
    files = {"pyproject.toml": usual.PYPROJECT, "greenroom.toml": usual.DECLARATION}
    project({**files, "srv/requirements.txt": "tinylib\n"})
    for name, remedy in (("app.A", "uv lock --project"), ("s1", "greenroom sync s1")):
        assert remedy in greenroom("run", name, "--", "python", status=3).stderr
    told = greenroom("status", status=3).stdout
    assert "missing  app.A, app.B" in told
    assert "missing  s1" in told


def test_an_environment_whose_files_were_removed_is_not_ready(
    greenroom: Command, built: Path, store_path: Path
) -> None:
    environment = Path(greenroom("python", "app.A").stdout.strip()).parent.parent
    for path in (environment, *environment.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(environment)
    assert "greenroom sync app.A" in greenroom("run", "app.A", "--", "python", status=3).stderr
    greenroom("sync")
    greenroom("run", "app.A", "--", "python", "-c", "import tinylib")
    del built, store_path


def test_an_unknown_component_names_the_nearest(greenroom: Command, built: Path) -> None:
    assert "did you mean 'app.A'?" in greenroom("python", "app.a", status=2).stderr
    assert "known: app.A, app.B, app.C, s1" in greenroom("run", "x", "--", "python", status=2).stderr
    del built


def test_nothing_to_run_and_nothing_of_that_name_are_status_2(greenroom: Command, built: Path) -> None:
    assert "greenroom run app.A -- python app.py" in greenroom("run", "app.A", status=2).stderr
    assert "greenroom run app.A -- python app.py" in greenroom("run", "app.A", "--", status=2).stderr
    assert "no program 'no-such'" in greenroom("run", "app.A", "--", "no-such", status=2).stderr
    del built


def test_a_servers_declared_command_runs_in_its_directory_unless_only_up_can_complete_it(
    greenroom: Command, built: Path
) -> None:
    refused = greenroom("run", "s1", status=2).stderr
    assert "{port}" in refused
    assert "greenroom up s1" in refused
    declared = '[servers.s1]\npath = "srv"\ncommand = ["python", "here.py", "two words"]\n'
    (built / "greenroom.toml").write_text(declared)
    (built / "srv" / "here.py").write_text("import os, sys, tinylib; print(os.getcwd(), sys.argv[1:])")
    assert greenroom("run", "s1").stdout == f"{built / 'srv'} ['two words']\n"
    assert greenroom("run", "s1", "--", "pwd").stdout != f"{built / 'srv'}\n"


def test_a_replaced_base_interpreter_is_named_and_its_return_is_noticed(
    greenroom: Command, built: Path, tmp_path: Path
) -> None:
    del built
    source = pythons.base()
    copy = tmp_path / "py"
    shutil.copytree(Path(source.path).parent.parent, copy, symlinks=True, ignore=_no_packages)
    own = {"GREENROOM_DRIVER": str(copy / "bin" / Path(source.path).name)}
    greenroom("sync", "app.A", env=own)
    copy.rename(tmp_path / "away")
    gone = greenroom("run", "app.A", "--", "python", env=own, status=None)
    assert gone.status in {2, 3}
    assert str(copy) in gone.stderr
    assert "Traceback" not in gone.stderr
    (tmp_path / "away").rename(copy)
    greenroom("run", "app.A", "--", "python", "-c", "import tinylib", env=own)


def test_a_declared_interpreter_that_is_gone_is_not_ready_and_its_return_costs_no_build(
    greenroom: Command, index: Index, project: Callable[..., Path], tmp_path: Path
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    source, copy = pythons.base(), tmp_path / "py"
    shutil.copytree(Path(source.path).parent.parent, copy, symlinks=True, ignore=_no_packages)
    python = copy / "bin" / Path(source.path).name
    project(
        {"greenroom.toml": f'[actors]\n"app.A" = {{ dependencies = ["tinylib"], python = "{python}" }}\n'}
    )
    greenroom("sync")
    copy.rename(tmp_path / "away")
    for command in (("status",), ("run", "app.A", "--", "python"), ("python", "app.A")):
        gone = greenroom(*command, status=3)
        assert f"the interpreter {python} is missing" in gone.stdout + gone.stderr
    told = greenroom("status", status=3).stdout
    assert "missing  app.A" in told
    assert "greenroom.toml:2" in told
    greenroom("sync", status=2)
    (tmp_path / "away").rename(copy)
    greenroom("run", "app.A", "--", "python", "-c", "import tinylib")
    assert greenroom("sync").stdout == "1 environment ready\n"


def test_an_environment_of_another_kind_of_machine_is_never_started_nor_replaced(
    greenroom: Command, index: Index, project: Callable[..., Path]
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    project({"greenroom.toml": '[actors]\n"app.A" = { dependencies = ["tinylib"] }\n'})
    greenroom("sync")
    place = Path(greenroom("python", "app.A").stdout.strip()).parent.parent
    place.chmod(0o755)
    record = place / "greenroom.json"
    content = json.loads(record.read_text())
    content["machine"] = "linux-riscv64-glibc"
    record.chmod(0o644)
    record.write_text(json.dumps(content))
    asked = len(index.requests)
    assert "built for linux-riscv64-glibc" in greenroom("run", "app.A", "--", "python", status=3).stderr
    refused = greenroom("sync", status=3)
    assert "give each kind of machine a store of its own" in refused.stdout
    assert "install" not in refused.stdout
    assert len(index.requests) == asked
    assert json.loads(record.read_text())["machine"] == "linux-riscv64-glibc"


def _no_packages(folder: str, names: list[str]) -> list[str]:
    heavy = {"site-packages", "test", "idlelib", "__pycache__", "share", "include", "ensurepip"}
    return [name for name in names if name in heavy and not folder.endswith("bin")]


@needs_unprivileged_user
@needs_other_patch
def test_another_user_launches_from_a_read_only_store(
    index: Index,
    uv_lock: Callable[..., object],
    public_path: Path,
    environ: dict[str, str],
) -> None:
    for version in ("1.1.1", "2.0.0"):
        index.add_wheel("tinylib", version)
    declaration = '[actors]\n"app.A" = ["a"]\n'
    app = write_files(public_path / "app", {"pyproject.toml": usual.PYPROJECT, "greenroom.toml": declaration})
    uv_lock(app)
    # An interpreter that others can start, with greenroom on its path; the driver's is the same.
    modules = [str(Path(package.__file__).parent.parent), str(Path(msgspec.__file__).parent.parent)]
    own = {"GREENROOM_STORE": str(public_path / "store"), "PYTHONPATH": os.pathsep.join(modules)}
    command = Command(pythons.other_patch().path, cwd=app, env=environ | own)
    command("-m", "greenroom", "sync")
    before = _tree(public_path)
    code = "import tinylib, os; print(tinylib.__version__, os.getuid())"
    other: dict[str, str | None] = {
        "HOME": "/nonexistent",
        "XDG_CACHE_HOME": None,
        "GREENROOM_UV": "/nonexistent",
    }
    words = ("-m", "greenroom", "run", "app.A", "--", "python", "-c", code)
    assert command(*words, env=other, prefix=as_nobody()).stdout == f"2.0.0 {NOBODY}\n"
    for question in ("python app.A", "list", "status", "why app.A", "plan", "sync", "diff app.A app.A"):
        command("-m", "greenroom", *question.split(), env=other, prefix=as_nobody())
    assert _tree(public_path) == before


@needs_unprivileged_user
@needs_other_patch
def test_what_is_private_to_whoever_built_is_said_to_another_user_in_one_line(
    index: Index, public_path: Path, environ: dict[str, str]
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    inline = '[actors]\n"app.A" = { dependencies = ["tinylib"] }\n'
    app = write_files(public_path / "app", {"greenroom.toml": inline})
    modules = [str(Path(package.__file__).parent.parent), str(Path(msgspec.__file__).parent.parent)]
    own = {"GREENROOM_STORE": str(public_path / "store"), "PYTHONPATH": os.pathsep.join(modules)}
    command = Command(pythons.other_patch().path, cwd=app, env=environ | own)
    command("-m", "greenroom", "sync")
    other: dict[str, str | None] = {"HOME": "/nonexistent", "XDG_CACHE_HOME": None}
    log = command("-m", "greenroom", "log", "app.A", env=other, prefix=as_nobody(), status=1)
    assert log.stderr.endswith("(it is private to the user who built: ask as that one)\n")
    copy = command("-m", "greenroom", "edit", "app.A", env=other, prefix=as_nobody(), status=1)
    assert "cannot copy the environment: Permission denied (name another directory" in copy.stderr


def test_32_processes_ask_at_once(greenroom: Command, built: Path) -> None:
    asked = [greenroom.start("python", "app.A") for _ in range(32)]
    assert {each.wait().stdout for each in asked} == {greenroom("python", "app.A").stdout}
    del built


def test_a_running_process_keeps_its_environment_from_collection(
    greenroom: Command, built: Path, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    code = f"open({str(fifo)!r}).read()"
    # exec without the variables that /proc would show: only the lease says that it is in use
    running = greenroom.start(
        "run", "app.A", "--", "env", "-i", greenroom("python", "app.B").stdout.strip(), "-c", code
    )
    key = Path(greenroom("python", "app.A").stdout.strip()).parent.parent.name
    with fifo.open("w"):
        (built / "greenroom.toml").unlink()
        kept = greenroom("gc", "--json").json()["data"]["stores"][0]
        assert key not in [item["name"] for item in kept["removed"]]
    running.wait()
    freed = greenroom("gc", "--json").json()["data"]["stores"][0]
    assert key in [item["name"] for item in freed["removed"]]
