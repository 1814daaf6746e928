"""An alias in a server's directory starts the store's interpreter, and tools that meet it change nothing."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from greenroom.store import alias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command

DECLARATION = '[discover]\nservers = ["servers/*"]\n[defaults]\nalias = ".venv"\n'
LATE = "print('up', flush=True); input(); import tinylib; print(tinylib.__version__)"


@pytest.fixture
def app(project: Callable[..., Path], index: Index, greenroom: Command) -> Path:
    for version in ("1.0", "2.0"):
        index.add_wheel("tinylib", version, files={"tinylib/__init__.py": f"__version__ = {version!r}\n"})
    index.add_wheel("stray", "1")
    files = {
        "greenroom.toml": DECLARATION,
        "servers/math/requirements.txt": "tinylib==1.0\n",
        "servers/code/requirements.txt": "tinylib==2.0\n",
    }
    root = project(files)
    greenroom("sync")
    return root


def version(place: Path) -> str:
    command = [str(place / ".venv/bin/python"), "-c", "import tinylib; print(tinylib.__version__)"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def test_each_server_has_its_environment_where_tools_expect_it(greenroom: Command, app: Path) -> None:
    assert (version(app / "servers/math"), version(app / "servers/code")) == ("1.0", "2.0")
    target = alias.target(str(app / "servers/math/.venv"))
    assert greenroom("python", "math").stdout.startswith(f"{target}/")
    assert not (app / "servers/math/.venv/pyvenv.cfg").exists()


TOOLS = [
    ("pip", "install", "stray"),
    ("pip", "install", "--python", ".venv/bin/python", "stray"),
    ("pip", "install", "-r", "requirements.txt", "stray"),
    ("pip", "uninstall", "tinylib"),
    ("venv", "--allow-existing"),
    ("venv", "--clear"),
]


@pytest.mark.parametrize("tool", TOOLS, ids=" ".join)
def test_uv_in_a_servers_directory_leaves_the_store_as_it_is(
    greenroom: Command, uv: Command, app: Path, tool: tuple[str, ...]
) -> None:
    server = app / "servers/math"
    for variables in ({}, {"VIRTUAL_ENV": str(server / ".venv")}):
        uv(*tool, cwd=server, env=variables, status=None)
    greenroom("verify", "math")
    shown = greenroom("run", "math", "--", "python", "-c", "import tinylib; print(tinylib.__version__)")
    assert shown.stdout == "1.0\n"
    failed = greenroom("run", "math", "--", "python", "-c", "import stray", status=1)
    assert "ModuleNotFoundError" in failed.stderr


def test_a_removed_alias_takes_nothing_along_and_is_written_again(greenroom: Command, app: Path) -> None:
    subprocess.run(["rm", "-r", app / "servers/math/.venv"], check=True)
    greenroom("verify", "math")
    greenroom("sync")
    assert version(app / "servers/math") == "1.0"


def test_a_server_that_imports_late_keeps_what_it_was_started_with(greenroom: Command, app: Path) -> None:
    server = app / "servers/math"
    with subprocess.Popen(
        [server / ".venv/bin/python", "-c", LATE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        (server / "requirements.txt").write_text("tinylib==2.0\n")
        greenroom("sync")
        assert process.communicate("\n")[0] == "1.0\n"
    assert version(server) == "2.0"


def test_a_copied_server_still_starts_the_right_interpreter(app: Path, tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", app / "servers/math", tmp_path / "copy"], check=True)
    (app / "servers/math").rename(tmp_path / "moved")
    assert version(tmp_path / "copy") == version(tmp_path / "moved") == "1.0"


def test_an_environment_of_the_users_own_is_left_alone_and_said(greenroom: Command, app: Path) -> None:
    own = app / "servers/mine"
    (own / ".venv").mkdir(parents=True)
    (own / ".venv/pyvenv.cfg").touch()
    (own / "requirements.txt").write_text("tinylib\n")
    said = greenroom("sync", status=None)
    assert "an environment that greenroom did not make stands there" in said.stdout + said.stderr
    assert [path.name for path in (own / ".venv").iterdir()] == ["pyvenv.cfg"]
    assert greenroom("python", "mine").stdout


def test_two_servers_cannot_have_one_alias(greenroom: Command, app: Path) -> None:
    more = '[servers.math]\nalias = "../x"\n[servers.code]\nalias = "../x"\n'
    (app / "greenroom.toml").write_text(DECLARATION + more)
    assert "is also the one of" in greenroom("list", status=2).stderr
