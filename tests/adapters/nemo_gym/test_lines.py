"""The set-up line makes an environment ready whatever the directory is called, and leaves the shell in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import distributions

from greenroom.adapters.nemo_gym import _legacy_setup_env_command, get_venv_path, setup_env_command
from greenroom.store import alias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PYTHON = ".".join(map(str, sys.version_info[:3]))
LIST = (
    "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
)


def config(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {
        "head_server_deps": ["ray[default]==2.60.0"],
        "python_version": PYTHON,
        "uv_venv_dir": str(tmp_path / "venvs"),
        "skip_venv_if_present": False,
        **more,
    }


def bash(line: str, status: int | None = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    found = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, **variables},
    )
    assert status is None or found.returncode == status, found.stdout + found.stderr
    return found


def starts_greenroom(line: str) -> bool:
    return "entry.py" in line


def packages(line: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(bash(f"{line} && python -c '{LIST}'").stdout)
    return found


@pytest.mark.usefixtures("driver", "gym_installed")
@pytest.mark.parametrize("venvs", ["venvs", 'my venvs/it\'s "a" $(touch z)'])
def test_the_line_leaves_the_shell_in_the_environment(tmp_path: Path, server: Path, venvs: str) -> None:
    settings = config(tmp_path, uv_venv_dir=str(tmp_path / venvs))
    line = setup_env_command(server, settings, "my (server)")
    assert "\n" not in line
    done = bash(f"{line} && python app.py 'a b'", PYTHONPATH=str(server))
    version, prefix, virtual, directory, arguments = json.loads(done.stdout)
    assert (version, directory, arguments) == ("0.7.0", str(server), ["a b"])
    assert prefix == virtual
    place = get_venv_path(server, settings)
    assert alias.target(str(place)) == prefix
    assert all(line.startswith("(my (server)) ") for line in done.stderr.splitlines())
    assert "ready, built in" in done.stderr
    own = subprocess.run([place / "bin/python", "app.py"], cwd=server, capture_output=True, check=True)
    assert json.loads(own.stdout)[1] == prefix
    assert not any((server / name).exists() for name in "xyz")


@pytest.mark.usefixtures("driver", "gym_installed")
def test_a_ready_environment_gives_a_line_that_starts_nothing(tmp_path: Path, server: Path) -> None:
    first = setup_env_command(server, config(tmp_path), "s")
    assert starts_greenroom(first)
    bash(first)
    second = setup_env_command(server, config(tmp_path), "s")
    assert not starts_greenroom(second)
    assert packages(second) == packages(first)
    (server / "requirements.txt").write_text("-e nemo-gym @ ../..\n")
    third = setup_env_command(server, config(tmp_path), "s")
    assert starts_greenroom(third), "the requirements changed"
    assert packages(third) == {"nemo-gym": "0.7.0", "ray": "2.60.0", "pip": "26.0"}


@pytest.mark.usefixtures("driver", "gym_installed")
def test_what_goes_in_is_the_servers_the_heads_pip_and_the_host(tmp_path: Path, server: Path) -> None:
    (server / "overrides.txt").write_text("gymtool==5\n")
    found = packages(_legacy_setup_env_command(server, config(tmp_path), "s"))
    assert found == {"nemo-gym": "0.7.0", "gymtool": "5", "ray": "2.60.0", "pip": "26.0"}


@pytest.mark.usefixtures("driver")
def test_pre_releases_come_in_where_the_drivers_variable_says_so(
    tmp_path: Path, server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packages(setup_env_command(server, config(tmp_path), "s"))["nemo-gym"] == "0.7.0"
    monkeypatch.setenv("NEMO_GYM_ALLOW_PRERELEASE", "true")
    shutil.rmtree(tmp_path / "venvs")
    found = packages(setup_env_command(server, config(tmp_path), "s"))
    assert (found["nemo-gym"], found["fastapi"]) == ("0.8.0rc1", "0.115")


@pytest.mark.usefixtures("driver", "gym_installed")
def test_in_a_checkout_the_host_stays_local_and_editable(tmp_path: Path, server: Path) -> None:
    checkout = server.parent.parent
    distributions.write_source(checkout, "nemo-gym", "9.9", requires=[])
    shown = bash(
        setup_env_command(server, config(tmp_path), "s")
        + " && python -c 'import nemo_gym; print(nemo_gym.__file__)'"
    ).stdout
    assert shown.startswith(str(checkout))


@pytest.mark.usefixtures("driver", "gym_installed")
def test_a_project_is_installed_editable_with_the_host_from_the_index(tmp_path: Path, server: Path) -> None:
    (server / "requirements.txt").unlink()
    distributions.write_source(server, "mine", "1", requires=["nemo-gym[dev]"])
    sources = '\n[tool.uv.sources]\nnemo-gym = { path = "../..", editable = true }\n'
    file = server / "pyproject.toml"
    file.write_text(file.read_text() + sources)
    found = packages(setup_env_command(server, config(tmp_path), "s"))
    assert found == {"mine": "1", "nemo-gym": "0.7.0", "gymtool": "5", "ray": "2.60.0", "pip": "26.0"}


@pytest.mark.usefixtures("driver")
def test_two_manifests_or_none_are_refused(tmp_path: Path, server: Path) -> None:
    (server / "pyproject.toml").touch()
    with pytest.raises(RuntimeError, match=r"both requirements\.txt and pyproject\.toml"):
        setup_env_command(server, config(tmp_path), "s")
    (server / "pyproject.toml").unlink()
    (server / "requirements.txt").unlink()
    with pytest.raises(RuntimeError, match=r"neither requirements\.txt nor pyproject\.toml"):
        setup_env_command(server, config(tmp_path), "s")
    with pytest.raises(RuntimeError, match="neither"):
        setup_env_command(server, config(tmp_path, skip_venv_if_present=True), "s")


@pytest.mark.usefixtures("driver")
def test_a_present_environment_is_taken_as_it_is_when_the_configuration_says_so(
    tmp_path: Path, server: Path
) -> None:
    (server / "requirements.txt").unlink()
    settings = config(tmp_path, skip_venv_if_present=True)
    place = get_venv_path(server, settings)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    line = setup_env_command(server, settings, "s")
    assert not starts_greenroom(line)
    assert bash(f"{line} && python -c 'import sys; print(sys.prefix)'").stdout == f"{place}\n"
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.usefixtures("driver", "gym_installed")
def test_a_present_alias_counts_as_long_as_its_environment_is_there(tmp_path: Path, server: Path) -> None:
    settings = config(tmp_path, skip_venv_if_present=True)
    bash(setup_env_command(server, settings, "s"))
    (server / "requirements.txt").write_text("gymtool\n")
    line = setup_env_command(server, settings, "s")
    assert not starts_greenroom(line)
    prefix = bash(f"{line} && python -c 'import sys; print(sys.prefix)'").stdout.strip()
    assert prefix == alias.target(str(get_venv_path(server, settings)))
    subprocess.run(["chmod", "-R", "u+w", prefix], check=True)
    shutil.rmtree(prefix)
    again = setup_env_command(server, settings, "s")
    assert starts_greenroom(again)
    assert packages(again) == {"gymtool": "5", "ray": "2.60.0", "pip": "26.0"}


@pytest.mark.usefixtures("driver", "gym_installed")
def test_an_environment_of_before_is_moved_aside_and_said(tmp_path: Path, server: Path) -> None:
    place = get_venv_path(server, config(tmp_path))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    done = bash(setup_env_command(server, config(tmp_path), "s"))
    assert f"{place} was not greenroom's and is now {place}.before-greenroom" in done.stderr
    assert (place.parent / ".venv.before-greenroom" / "pyvenv.cfg").exists()
    assert alias.target(str(place)) is not None


@pytest.mark.usefixtures("driver", "gym_installed")
def test_a_failure_is_said_with_the_prefix_and_stops_the_line(tmp_path: Path, server: Path) -> None:
    (server / "requirements.txt").write_text("no-such-package\n")
    done = bash(f"{setup_env_command(server, config(tmp_path), 's')} && echo started", None)
    assert done.returncode == 1
    assert "started" not in done.stdout
    assert "(s) " in done.stderr
    assert "no-such-package" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("driver", "gym_installed")
def test_modules_of_a_server_do_not_shadow_those_of_the_line(tmp_path: Path, server: Path) -> None:
    for name in ("json", "greenroom", "packaging", "site"):
        (server / f"{name}.py").write_text("raise SystemExit(9)\n")
    bash(setup_env_command(server, config(tmp_path), "s"), PYTHONPATH=str(server))


@pytest.mark.usefixtures("driver", "gym_installed")
@pytest.mark.parametrize("variable", ["NEMO_GYM_ALLOWED_COMPONENT_ROOTS", "GREENROOM_ALLOWED_ROOTS"])
def test_nothing_is_built_outside_the_allowed_roots(tmp_path: Path, server: Path, variable: str) -> None:
    line = setup_env_command(server, config(tmp_path), "s")
    done = bash(line, 2, **{variable: str(tmp_path / "elsewhere")})
    assert "outside the allowed" in done.stderr
    assert not (tmp_path / "venvs").exists()


@pytest.mark.usefixtures("driver", "gym_installed")
def test_many_servers_at_once_share_one_environment(tmp_path: Path, project: Callable[..., Path]) -> None:
    text = {"requirements.txt": "-e nemo-gym[dev] @ ../../\n"}
    servers = [project(text, at=f"gym/resources_servers/s{n}") for n in range(4)]
    lines = [setup_env_command(path, config(tmp_path), path.name) for path in servers]
    running = [
        subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in lines
    ]
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * 4
    targets = {alias.target(str(get_venv_path(path, config(tmp_path)))) for path in servers}
    assert len(targets) == 1
