"""NeMo RL's names on a real Ray: an actor's environment is ready on each node before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.needs_ray


@pytest.mark.usefixtures("stage")
def test_an_actor_starts_in_the_environment_that_its_runtime_env_names(
    driver: Callable[..., Any], store_path: Path
) -> None:
    env, a, c = driver("""\
from greenroom.adapters.nemo_rl import make_actor_runtime_env
connect()
env = make_actor_runtime_env("stage.A")
a = ray.remote(stage.A).options(runtime_env=env).remote()
c = ray.remote(stage.C).options(runtime_env=make_actor_runtime_env("stage.C")).remote()
tell([env, ray.get(a.tell.remote()), ray.get(c.tell.remote())])
""")
    directory = env["py_executable"].removesuffix("/bin/python")
    assert directory.startswith(str(store_path))
    assert env["env_vars"]["UV_PROJECT_ENVIRONMENT"] == directory
    assert a["PATH"].startswith(f"{directory}/bin:/")
    assert a["child"] == directory
    assert (a["tinylib"], a["prefix"], a["VIRTUAL_ENV"]) == ("2.0.0", directory, directory)
    assert c["prefix"] != directory


@pytest.mark.usefixtures("stage")
def test_an_environment_that_no_actor_declares_is_an_error(driver: Callable[..., Any]) -> None:
    said = driver("""\
from greenroom.adapters.nemo_rl import create_local_venv_on_each_node, uv_py_executable
connect()
try:
    create_local_venv_on_each_node(uv_py_executable([]), "stage.New")
except ValueError as error:
    tell(str(error))
""")
    assert "add stage.New to the actors' table" in said
