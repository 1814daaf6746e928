"""Each function answers as its users expect, example by example."""

from __future__ import annotations

import inspect
import os
import shlex
from pathlib import Path

import pytest

from greenroom.adapters import nemo_gym
from greenroom.adapters.nemo_gym import (
    NEMO_GYM_ALLOWED_COMPONENT_ROOTS_ENV_VAR_NAME as ROOTS,
)
from greenroom.adapters.nemo_gym import (
    _get_nemo_gym_install_flags,
    _get_nemo_gym_version_spec,
    _local_nemo_gym_extras,
    _python_request_admits,
    _server_python_request,
    _validate_component_working_dir,
    get_venv_path,
    settings,
)

RUN = (
    "command working_dir_path server_name project_root global_config_dict stdout_target stderr_target"
    " extra_env start_new_session"
)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("get_venv_path", "dir_path global_config_dict"),
        ("setup_env_command", "dir_path global_config_dict prefix"),
        ("_legacy_setup_env_command", "dir_path global_config_dict prefix"),
        ("run_command", RUN),
        ("_python_request_admits", "request version"),
        ("_server_python_request", "dir_path parent_python"),
        ("_local_nemo_gym_extras", "requirements_fpath"),
        ("_get_nemo_gym_version_spec", "is_editable_install"),
        ("_validate_component_working_dir", "working_dir_path server_name environment"),
    ],
)
def test_signatures_are_the_projects(name: str, parameters: str) -> None:
    assert " ".join(inspect.signature(getattr(nemo_gym, name)).parameters) == parameters


@pytest.mark.parametrize(
    ("request_", "admitted"),
    [
        (">=3.13,<3.14", True),
        ("3.13", True),
        ("3.13.14", False),
        ("cpython@3.13", True),
        ("cpython3.13", True),
        ("cpython@>=3.13", True),
        ("pypy@3.10", False),
        ("3.13+freethreaded", False),
        ("3.13t", False),
        ("", False),
    ],
)
def test_requests_admit_versions(request_: str, admitted: bool) -> None:
    assert _python_request_admits(request_, "3.13.2") is admitted


@pytest.mark.parametrize(
    ("content", "driver", "expected"),
    [
        (">=3.13.14,<3.14\n", "3.13.15", "3.13.15"),
        (">=3.13.14,<3.14\n", "3.12.1", ">=3.13.14,<3.14"),
        ("# why\n3.12\n", "3.12.1", "3.12.1"),
        ("\n", "3.12.1", "3.12.1"),
        (None, "3.12.1", "3.12.1"),
    ],
)
def test_a_server_gets_the_drivers_python_unless_its_file_excludes_it(
    tmp_path: Path, content: str | None, driver: str, expected: str
) -> None:
    if content is not None:
        (tmp_path / ".python-version").write_text(content)
    assert _server_python_request(tmp_path, driver) == expected


@pytest.mark.parametrize(
    ("line", "extras"),
    [
        ("-e nemo-gym[dev] @ ../../", "[dev]"),
        ("nemo_gym [a, b] @ ../..", "[a,b]"),
        ("-e nemo-gym[sandbox,dev] @ ../..", "[sandbox,dev]"),
        ("-e nemo-gym @ ../../", ""),
        ("# -e nemo-gym[dev] @ ../../", ""),
        ("nemo-gym[dev]==0.7.0", ""),
        ("-e ../..[x]", "[x]"),
        ("", ""),
    ],
)
def test_extras_of_the_local_host_are_told(tmp_path: Path, line: str, extras: str) -> None:
    file = tmp_path / "a" / "b" / "requirements.txt"
    file.parent.mkdir(parents=True)
    file.write_text(f"tiktoken\n{line}\n")
    assert _local_nemo_gym_extras(file) == extras


def test_the_version_is_the_drivers_except_for_an_editable_one() -> None:
    assert _get_nemo_gym_version_spec(is_editable_install=True) == ""
    assert _get_nemo_gym_version_spec(is_editable_install=False) == "", "it is not installed here"


@pytest.mark.usefixtures("gym_installed")
def test_an_installed_version_is_pinned() -> None:
    assert _get_nemo_gym_version_spec(is_editable_install=False) == "==0.7.0"
    assert _get_nemo_gym_version_spec(is_editable_install=True) == ""


@pytest.mark.parametrize(
    ("variables", "flags"),
    [
        ({}, []),
        (
            {"NEMO_GYM_ALLOW_PRERELEASE": "True"},
            ["--pre", "--index-strategy", "unsafe-best-match", "fastapi<1.0"],
        ),
        (
            {"NEMO_GYM_ALLOW_PRERELEASE": "true", "UV_INDEX_STRATEGY": "first-index"},
            ["--pre", "fastapi<1.0", "--index-strategy", "first-index"],
        ),
        (
            {"UV_INDEX_URL": "https://a.example/simple", "UV_EXTRA_INDEX_URL": "https://b.example https://c"},
            [
                "--index-url",
                "https://a.example/simple",
                "--extra-index-url",
                "https://b.example https://c",
            ],
        ),
        ({"NEMO_GYM_ALLOW_PRERELEASE": "1"}, []),
    ],
)
def test_flags_follow_the_drivers_variables(
    variables: dict[str, str], flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NEMO_GYM_ALLOW_PRERELEASE", "UV_INDEX_STRATEGY", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert shlex.split(_get_nemo_gym_install_flags()) == flags


def test_environments_are_below_uv_venv_dir_by_type_and_name() -> None:
    config = {"uv_venv_dir": "/venvs"}
    path = get_venv_path(Path("/app/resources_servers/mcqa"), config)
    assert path == Path("/venvs/resources_servers/mcqa/.venv")


@pytest.mark.parametrize("config", [{}, {"uv_venv_dir": None}, {"uv_venv_dir": "{root}"}])
def test_without_a_directory_of_their_own_they_are_beside_the_server(
    tmp_path: Path, config: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "host_root", lambda: os.path.realpath(tmp_path))
    said = {key: value.format(root=tmp_path) if value else None for key, value in config.items()}
    assert (
        get_venv_path(tmp_path / "resources_servers/mcqa", said) == tmp_path / "resources_servers/mcqa/.venv"
    )


def test_a_relative_directory_gives_an_absolute_path() -> None:
    path = get_venv_path(Path("resources_servers/mcqa"), {"uv_venv_dir": "venvs"})
    assert path == Path.cwd() / "venvs/resources_servers/mcqa/.venv"


def test_servers_outside_the_allowed_roots_are_refused(tmp_path: Path) -> None:
    for name in ("a/math", "a-evil/math", "b/math"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to(tmp_path / "b" / "math")
    (tmp_path / "alias").symlink_to(tmp_path / "a")
    environment = {ROOTS: f"{tmp_path}/a{os.pathsep}{tmp_path}/none"}
    _validate_component_working_dir(tmp_path / "a/math", "math", environment)
    _validate_component_working_dir(tmp_path / "a", "math", environment)
    _validate_component_working_dir(tmp_path / "a/math", "math", {ROOTS: f"{tmp_path}/alias"})
    for refused in ("a-evil/math", "b/math", "a/link", "a/../b/math"):
        with pytest.raises(RuntimeError, match=rf"'mine'.*math.*{tmp_path}/a, {tmp_path}/none"):
            _validate_component_working_dir(tmp_path / refused, "mine", environment)
    for open_ in ({}, {ROOTS: ""}):
        _validate_component_working_dir(tmp_path / "b/math", "math", open_)
