"""From an actor to the interpreter it is started with, on this node or on all of them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from greenroom.adapters.nemo_rl import building, executables, projects
from greenroom.errors import GreenroomError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.project.model import Planned

__all__ = ["create_local_venv", "create_local_venv_on_each_node", "make_actor_runtime_env"]

_NAME = "greenroom.local.Venv"
"""A name for what no actor's name is given for."""


def create_local_venv(py_executable: str, venv_name: str, force_rebuild: bool = False) -> str:  # noqa: FBT001, FBT002 - the project's signature
    """Make the environment of a ``uv run`` line ready on this node.

    One that is ready is left as it is; several names for one content share one environment.

    :param py_executable: the line; an interpreter's path is returned as it is.
    :param venv_name: an actor's name: a directory by it is left beside the environment.
    :returns: the interpreter's path in the store.
    :raises ValueError: the line cannot be read.
    :raises GreenroomError: the environment cannot be told or built.
    """
    if not executables.is_uv(py_executable):
        return py_executable
    name = _actor(venv_name)
    made = building.make(building.planned({name: py_executable}), force=force_rebuild)[name]
    if isinstance(made, GreenroomError):
        raise made
    return made


def create_local_venv_on_each_node(py_executable: str, venv_name: str) -> str:
    """Make an environment ready on every node of the Ray cluster, also on those without CPUs.

    Each node builds, or finds, or is given what a declared actor has, so an actor with this content has to
    be declared. ``NRL_FORCE_REBUILD_VENVS=true`` builds it anew in this node's store; other nodes' own
    stores are proven and repaired.

    :returns: the interpreter's path, the same on every node.
    :raises ValueError: no declared actor has this environment, or the line cannot be read.
    :raises NodesNotReady: a node has it not; the message names each.
    """
    if not executables.is_uv(py_executable):
        return py_executable
    from greenroom.ray import prepare  # noqa: PLC0415 - an extra

    actor, found = _declared(py_executable, venv_name)
    if os.environ.get("NRL_FORCE_REBUILD_VENVS", "").lower() == "true":
        create_local_venv(py_executable, venv_name, force_rebuild=True)
    with _store(found.store.path):
        prepare([actor], project=projects.declaration())
    return found.store.interpreter(found.key)


def make_actor_runtime_env(actor_class_fqn: str) -> dict[str, Any]:
    """Return the ``runtime_env`` of an actor; its environment is ready then, on every node of a running Ray.

    ``env_vars`` holds what the actor's declaration says and the environment's directory, nothing of this
    process: Ray writes them to its logs.

    :raises ValueError: the actor is not registered.
    """
    from greenroom.adapters.nemo_rl.tables import get_actor_python_env  # noqa: PLC0415 - reads the tables

    py_executable = get_actor_python_env(actor_class_fqn)
    variables = _variables(actor_class_fqn)
    if executables.is_uv(py_executable):
        ray = sys.modules.get("ray")
        if ray is not None and ray.is_initialized():
            py_executable = create_local_venv_on_each_node(py_executable, actor_class_fqn)
        else:
            py_executable = create_local_venv(py_executable, actor_class_fqn)
    directory = os.path.dirname(os.path.dirname(py_executable))
    if os.path.isfile(os.path.join(directory, "pyvenv.cfg")):
        variables |= {"VIRTUAL_ENV": directory, "UV_PROJECT_ENVIRONMENT": directory}
        variables.setdefault("PATH", f"{directory}/bin:${{PATH}}")  # Ray puts the node's own there
    return {"py_executable": py_executable, "env_vars": variables}


def _declared(py_executable: str, venv_name: str) -> tuple[str, Planned]:
    """Return the declared actor whose environment a line asks for: the one of this name first."""
    from greenroom.project import facade  # noqa: PLC0415 - the full road is heavy

    name = _actor(venv_name)
    plan = building.planned({name: py_executable})
    for problem in plan.problems:
        raise problem.error
    key = plan.environments[0].key
    project = facade.load(projects.declaration(), environ=building.environ())
    for found in project.plan().environments:
        if found.key == key:
            return (venv_name if venv_name in found.components else found.components[0]), found
    msg = f"no declared actor has the environment of {py_executable!r}: add {venv_name} to the actors' table"
    raise ValueError(msg)


def _actor(venv_name: str) -> str:
    parts = venv_name.split(".")
    return venv_name if len(parts) > 1 and all(part.isidentifier() for part in parts) else _NAME


def _variables(actor: str) -> dict[str, str]:
    from greenroom.declaration import reading  # noqa: PLC0415 - heavy

    path = projects.declaration()
    if path is None:
        return {}
    components = reading.read(path, dict(os.environ)).components
    return next((dict(found.launch.variables) for found in components if found.name == actor), {})


@contextmanager
def _store(path: str) -> Iterator[None]:
    """Let this process use a store for a moment: what asks the nodes reads it from the variables."""
    before = os.environ.get("GREENROOM_STORE")
    os.environ["GREENROOM_STORE"] = path
    try:
        yield
    finally:
        if before is None:
            del os.environ["GREENROOM_STORE"]
        else:
            os.environ["GREENROOM_STORE"] = before
