"""What happens around: odd places, other interpreters, caches that cannot be used, aliases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import pythons, usual
from tests.support.capabilities import needs_python

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

PREFIX = "import sys; print(sys.prefix)"
LATER = '[defaults]\npythons = ["py/bin/python3"]\n[servers.s]\npath = "s"\npython = "3.12"\n'
INLINE = '[actors]\n"app.A" = { dependencies = ["tinylib"] }\n'


@pytest.mark.parametrize("name", ["my env & co (v1) 'x' $HOME;é", 'a"b', "a\nb", "%s {x} `id`", "-dash"])
def test_a_project_may_stand_anywhere(
    greenroom: Command, index: Index, project: Callable[..., Path], name: str
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    app = project({"greenroom.toml": INLINE, "servers/s 1/requirements.txt": "tinylib\n"}, at=name)
    with (app / "greenroom.toml").open("a") as stream:
        stream.write('[discover]\nservers = ["servers/*"]\n')
    greenroom("sync", cwd=app)
    assert "2 environments" not in greenroom("sync", cwd=app).stdout
    greenroom("run", "app.A", "--", "python", "-c", "import tinylib", cwd=app)
    greenroom("run", "s 1", "--", "python", "-c", "import tinylib", cwd=app)
    assert greenroom("list", cwd=app / "servers").stdout == greenroom("list", cwd=app).stdout
    greenroom("why", "app.A", cwd=app)


def test_a_store_with_a_space_is_refused_with_the_reason(
    greenroom: Command, app: Path, tmp_path: Path
) -> None:
    refused = greenroom("sync", "--store", tmp_path / "a b", status=2)
    assert "space" in refused.stderr
    assert refused.stderr.count("\n") == 1
    del app


def test_a_project_is_the_same_whichever_link_leads_to_it(
    greenroom: Command, built: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(built)
    assert greenroom("list", "--json", cwd=link).stdout == greenroom("list", "--json").stdout
    assert greenroom("sync", cwd=link).stdout == "2 environments ready\n"


def test_names_that_differ_only_in_case_are_two_components(
    greenroom: Command, index: Index, project: Callable[..., Path]
) -> None:
    for version in ("1.0", "2.0"):
        index.add_wheel("tinylib", version)
    project(
        {
            "greenroom.toml": '[actors]\n"app.Ab" = { dependencies = ["tinylib==1.0"] }\n'
            '"app.AB" = { dependencies = ["tinylib==2.0"] }\n'
        }
    )
    greenroom("sync")
    code = "import tinylib; print(tinylib.__version__)"
    assert greenroom("run", "app.Ab", "--", "python", "-c", code).stdout == "1.0\n"
    assert greenroom("run", "app.AB", "--", "python", "-c", code).stdout == "2.0\n"


@pytest.mark.parametrize("cache", ["/proc/nowhere", "/dev/null"])
def test_a_cache_that_cannot_be_written_changes_no_answer(
    greenroom: Command, built: Path, cache: str
) -> None:
    expected = greenroom("status", "--json").stdout
    assert greenroom("status", "--json", env={"XDG_CACHE_HOME": cache}).stdout == expected
    assert greenroom("sync", env={"XDG_CACHE_HOME": cache}).stdout == "2 environments ready\n"
    assert greenroom("sync", env={"XDG_CACHE_HOME": None, "HOME": None}).stdout == "2 environments ready\n"
    del built


def test_a_damaged_snapshot_is_thrown_away_and_written_anew(
    greenroom: Command, built: Path, tmp_path: Path
) -> None:
    expected = greenroom("status", "--json").stdout
    [file] = (tmp_path / "home/.cache/greenroom/projects").glob("*.json")
    whole = file.read_text()
    for damaged in ("", "{", "[]", "null", whole[: len(whole) // 2], whole.replace('"files"', '"flies"')):
        file.write_text(damaged)
        assert greenroom("status", "--json").stdout == expected
        assert json.loads(file.read_text())["components"].keys() == {"app.A", "app.B", "app.C", "s1"}
    del built


@needs_python("3.12")
def test_an_interpreter_that_comes_later_is_found(
    greenroom: Command, index: Index, project: Callable[..., Path]
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    app = project(
        {
            "greenroom.toml": LATER,
            "s/requirements.txt": "tinylib\n",
        }
    )
    away = {"PATH": str(app), "UV_PYTHON_INSTALL_DIR": str(app), "UV_PYTHON_DOWNLOADS": "never"}
    missing = greenroom("status", env=away, status=None)
    if missing.status == 3:
        pytest.skip("uv finds a Python 3.12 whatever PATH says")
    assert "3.12" in missing.stdout
    (app / "py/bin").mkdir(parents=True)
    (app / "py/bin/python3").symlink_to(pythons.python("3.12").path)
    assert "3.12" not in greenroom("status", env=away, status=None).stdout.replace("3.12.", "")
    greenroom("sync", env=away)
    version = greenroom("run", "s", "--", "python", "-c", "import sys; print(sys.version_info[:2])", env=away)
    assert version.stdout == "(3, 12)\n"


@needs_python("3.12")
def test_another_python_request_is_another_environment_and_going_back_costs_nothing(
    greenroom: Command, index: Index, project: Callable[..., Path]
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    path = pythons.python("3.12").path
    text = f'[defaults]\npythons = ["{path}"]\n[servers.s]\npath = "s"\n'
    app = project({"greenroom.toml": text, "s/requirements.txt": "tinylib\n"})
    greenroom("sync")
    first = greenroom("python", "s").stdout
    (app / "greenroom.toml").write_text(f'{text}python = "3.12"\n')
    greenroom("sync")
    assert (
        greenroom("run", "s", "--", "python", "-c", "import sys; print(sys.version_info[1])").stdout == "12\n"
    )
    # The choice is remembered: launching from scratch asks nobody.
    assert greenroom("python", "s", env={"GREENROOM_UV": "/nonexistent"}).stdout != first
    (app / "greenroom.toml").write_text(text)
    greenroom("sync")
    assert greenroom("python", "s").stdout == first


def test_aliases_start_the_stores_interpreter_and_go_with_their_component(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    text = usual.DECLARATION + '\n[store]\naliases = "envs"\n'
    app = usual.write(index, project, uv_lock, {"greenroom.toml": text})
    greenroom("sync")
    by_prefix = {
        subprocess.run(
            [alias / "bin/python", "-c", PREFIX], capture_output=True, text=True, check=True
        ).stdout
        for alias in (app / "envs").iterdir()
    }
    places = {Path(greenroom("python", name).stdout.strip()).parent.parent for name in ("app.A", "app.B")}
    assert by_prefix == {f"{place}\n" for place in places}
    shutil.rmtree(app / "envs")
    assert greenroom("sync").stdout == "2 environments ready\n"
    assert len(list((app / "envs").iterdir())) == 3
    (app / "greenroom.toml").write_text(text.replace('"app.B" = ["b"]\n', ""))
    greenroom("sync")
    assert len(list((app / "envs").iterdir())) == 2


def test_what_stands_where_an_alias_is_to_go_is_left_alone(
    greenroom: Command, index: Index, project: Callable[..., Path]
) -> None:
    index.add_wheel("tinylib", "2.0.0")
    app = project({"greenroom.toml": INLINE + '[store]\naliases = "envs"\n'})
    mine = app / "envs" / "app.+a"
    mine.mkdir(parents=True)
    (mine / "precious").write_text("x")
    for summary in ("1 environment ready: 1 built; 1 lock written", "1 environment ready"):  # never free
        refused = greenroom("sync", status=2)
        assert str(mine) in refused.stdout
        assert summary in refused.stdout
    assert (mine / "precious").read_text() == "x"
    greenroom("python", "app.A")


def test_changed_metadata_of_an_editable_is_told_and_sync_builds_anew(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    from tests.support.distributions import write_source

    index.add_wheel("tinylib", "2.0.0")
    app = project({"greenroom.toml": '[actors]\n"app.A" = []\n'})
    write_source(app, "app", "0", requires=["tinylib"])
    uv_lock(app)
    greenroom("sync")
    first = greenroom("python", "app.A").stdout
    greenroom("status")
    write_source(
        app, "app", "0", requires=["tinylib"], scripts={"mine": "app:main"}, pyproject="[tool.mine]\nx = 1\n"
    )
    stale = greenroom("status", status=3)
    assert "metadata of app changed" in stale.stdout
    assert greenroom("python", "app.A").stdout == first, "it is as it was proven, and can be started"
    greenroom("sync")
    greenroom("status")
    assert greenroom("python", "app.A").stdout == first
    assert os.access(Path(first.strip()).parent / "mine", os.X_OK)
