"""NeMo Gym's own servers, from the public index: they start through the adapter and answer; all are read."""

from __future__ import annotations

import http.cookiejar
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import pythons

from greenroom.adapters.nemo_gym import get_venv_path, run_command, setup_env_command
from greenroom.components import RequirementsSource
from greenroom.declaration import reading
from greenroom.locks import host, requirements
from greenroom.store import alias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.workspace import Command

    from greenroom.components import Component

pytestmark = [pytest.mark.online, pytest.mark.slow]

KINDS = (
    *("benchmarks", "environment_servers", "environments"),
    *("resources_servers", "responses_api_agents", "responses_api_models"),
)
SERVERS = ("example_single_tool_call", "example_session_state_mgmt", "mcqa")


def fetched(uv: Command, target: Path, release: str, python: str, env: dict[str, str | None]) -> Path:
    arguments = ("--no-deps", "--target", target, "--python-version", python)
    uv("pip", "install", *arguments, f"nemo-gym=={release}", env=env)
    return target


@pytest.fixture
def public(
    environ: dict[str, str], online_environ: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Give this process clean variables that reach the public index, and a folder for Ray's short paths."""
    merged = {**environ, **online_environ}
    variables = {name: value for name, value in merged.items() if value is not None}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in list(os.environ):
        if name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


@pytest.fixture
def ray_folder() -> Iterator[str]:
    """Make a folder whose path is short enough for Ray's sockets."""
    with tempfile.TemporaryDirectory(prefix="g", dir="/var/tmp") as folder:
        yield folder


def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        number: int = found.getsockname()[1]
        return number


def post(opener: urllib.request.OpenerDirector, url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with opener.open(request, timeout=60) as answer:
        return json.load(answer)


def ask(name: str, url: str) -> None:
    """Use a server's own interface."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    )
    with opener.open(f"{url}/", timeout=60) as answer:
        assert json.load(answer) == {"status": "ok"}
    if name == "example_single_tool_call":
        found = post(opener, f"{url}/get_weather", {"city": "Oslo"})
        assert found == {"city": "Oslo", "weather_description": "The weather in Oslo is cold."}
    elif name == "example_session_state_mgmt":
        post(opener, f"{url}/seed_session", {"initial_count": 3})
        post(opener, f"{url}/increment_counter", {"count": 2})
        assert post(opener, f"{url}/get_counter_value", {}) == {"count": 5}
    else:
        with opener.open(f"{url}/openapi.json", timeout=60) as answer:
            assert "/verify" in json.load(answer)["paths"]


def started(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line.decode())
        if b"Uvicorn running on" in line:
            return
    raise AssertionError("".join(seen))


@pytest.mark.usefixtures("public")
def test_small_servers_start_through_the_adapter_and_answer(
    uv: Command, tmp_path: Path, online_environ: dict[str, str | None], ray_folder: str
) -> None:
    python = pythons.python("3.12")
    gym = fetched(uv, tmp_path / "fetched", "0.4.0", python.version, online_environ)
    os.environ["PATH"] = f"{Path(python.path).parent}{os.pathsep}{os.environ['PATH']}"
    head = port()
    for name in SERVERS:
        directory = tmp_path / "my gym/resources_servers" / name
        shutil.copytree(gym / "resources_servers" / name, directory)
        own = port()
        place = {"entrypoint": "app.py", "domain": "agent", "host": "127.0.0.1", "port": own}
        config = {
            "head_server_deps": ["ray[default]==2.60.0", "nemo-gym==0.4.0"],
            "python_version": python.version,
            "uv_venv_dir": str(tmp_path / "venvs"),
            "uv_cache_dir": os.environ["UV_CACHE_DIR"],
            "nemo_gym_log_dir": str(tmp_path / "logs"),
            "skip_venv_if_present": False,
            "dry_run": False,
            "head_server": {"host": "127.0.0.1", "port": head},
            name: {"resources_servers": {name: place}},
        }
        line = f"{setup_env_command(directory, config, name)} && python app.py"
        process = run_command(
            line,
            directory,
            name,
            global_config_dict=config,
            stdout_target=subprocess.PIPE,  # type: ignore[arg-type]
            extra_env={
                "NEMO_GYM_CONFIG_DICT": json.dumps(config),
                "NEMO_GYM_CONFIG_PATH": name,
                "RAY_TMPDIR": ray_folder,
                "RAY_raylet_start_wait_time_s": "300",  # a busy machine takes longer than Ray waits
            },
            start_new_session=True,
        )
        try:
            started(process)
            ask(name, f"http://127.0.0.1:{own}")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        assert b"Uvicorn running" in (tmp_path / "logs" / f"{name}.log").read_bytes()
        again = setup_env_command(directory, config, name)
        assert "entry.py" not in again, "it is ready"
    first, second, third = (
        alias.target(str(get_venv_path(tmp_path / "my gym/resources_servers" / name, config)))
        for name in SERVERS
    )
    assert first == second, "one content, one environment"
    assert first != third


def test_every_directory_of_a_release_is_found_and_read_with_the_hosts_extras(
    uv: Command, tmp_path: Path, online_environ: dict[str, str | None]
) -> None:
    gym = fetched(uv, tmp_path / "gym", "0.7.0", "3.13.14", online_environ)
    folders = {
        file.parent.parent.relative_to(gym).as_posix()
        for kind in KINDS
        for file in (gym / kind).rglob("*")
        if file.name in {"requirements.txt", "pyproject.toml"}
    }
    declaration = gym / "greenroom.toml"
    declaration.write_text(
        '[host]\nname = "nemo-gym"\nversion = "0.7.0"\n'
        f"[discover]\nservers = {json.dumps(sorted(f'{folder}/*' for folder in folders))}\n"
        '[defaults]\nextra-requirements = ["ray[default]==2.60.0"]\n'
    )
    components = reading.read(str(declaration), {}).components
    assert len(components) == 223
    assert [one.spec.options.python for one in components if one.spec and one.spec.options.python] == [
        ">=3.13.14,<3.14"
    ] * 2
    lists = [found for one in components if (found := _lines(one)) is not None]
    assert (len(lists), len(set(lists))) == (211, 92)
    assert sum("nemo-gym[dev]==0.7.0" in found for found in lists) == 176
    assert sum("nemo-gym[dev,sandbox]==0.7.0" in found for found in lists) == 31
    assert sum("nemo-gym[sandbox]==0.7.0" in found for found in lists) == 1
    assert sum("nemo-gym==0.7.0" in found for found in lists) == 1
    projects = [one for one in components if _lines(one) is None]
    sourced = [host.instead_of_source(one.launch.directory or "", _host(one), {}) for one in projects]
    assert [one.requirement for one in sourced if one] == ["nemo-gym==0.7.0"] * 10


def _host(component: Component) -> Any:
    return component.spec.host if component.spec else None


def _lines(component: Component) -> tuple[str, ...] | None:
    """Return what a server's requirements say with the host rule applied, sorted; None for a project."""
    source = component.spec.source if component.spec else None
    if not isinstance(source, RequirementsSource) or not source.requirements:
        return None
    found = host.applied(requirements.read(source.requirements, {}), _host(component), {})
    return tuple(sorted(entry.line.text for entry in found.lines))
