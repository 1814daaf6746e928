"""NeMo RL's own names for its actors' environments, on greenroom's store.

``from greenroom.adapters.nemo_rl import …`` takes the place of the imports from ``nemo_rl.distributed`` (the
tables, the registry, ``PY_EXECUTABLES``) and ``nemo_rl.utils`` (the environments). The actors' table is the
declaration's: ``[actors]``, or the project's own literal ``ACTOR_ENVIRONMENTS`` as its ``registry``.

Each name is made when it is first asked for: the tables then read the declaration that
``GREENROOM_PROJECT`` names, else the one of the working directory.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.adapters.nemo_rl.executables import PY_EXECUTABLES as PY_EXECUTABLES
    from greenroom.adapters.nemo_rl.executables import uv_py_executable as uv_py_executable
    from greenroom.adapters.nemo_rl.prefetching import prefetch_venvs as prefetch_venvs
    from greenroom.adapters.nemo_rl.tables import _build_stage as _build_stage
    from greenroom.adapters.nemo_rl.tables import get_actor_python_env as get_actor_python_env
    from greenroom.adapters.nemo_rl.tables import main as main
    from greenroom.adapters.nemo_rl.venvs import create_local_venv as create_local_venv
    from greenroom.adapters.nemo_rl.venvs import (
        create_local_venv_on_each_node as create_local_venv_on_each_node,
    )
    from greenroom.adapters.nemo_rl.venvs import make_actor_runtime_env as make_actor_runtime_env

    ACTOR_ENVIRONMENTS: dict[str, list[str] | None]
    ACTOR_ENVIRONMENT_REGISTRY: dict[str, str]
    USE_SYSTEM_EXECUTABLE: bool

_HOME = {
    "ACTOR_ENVIRONMENTS": "tables",
    "ACTOR_ENVIRONMENT_REGISTRY": "tables",
    "PY_EXECUTABLES": "executables",
    "USE_SYSTEM_EXECUTABLE": "tables",
    "_build_stage": "tables",
    "create_local_venv": "venvs",
    "create_local_venv_on_each_node": "venvs",
    "get_actor_python_env": "tables",
    "main": "tables",
    "make_actor_runtime_env": "venvs",
    "prefetch_venvs": "prefetching",
    "uv_py_executable": "executables",
}
__all__ = [
    "ACTOR_ENVIRONMENTS",
    "ACTOR_ENVIRONMENT_REGISTRY",
    "PY_EXECUTABLES",
    "USE_SYSTEM_EXECUTABLE",
    "_build_stage",
    "create_local_venv",
    "create_local_venv_on_each_node",
    "get_actor_python_env",
    "main",
    "make_actor_runtime_env",
    "prefetch_venvs",
    "uv_py_executable",
]


def __getattr__(name: str) -> object:
    """Make a name on first use, and keep it.

    :raises AttributeError: there is no such name.
    :raises ValueError: an actor of the table asks for an extra that the project does not declare.
    """
    if name not in _HOME:
        msg = f"module 'greenroom.adapters.nemo_rl' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module  # noqa: PLC0415 - only when a name is asked for

    home = import_module(f"greenroom.adapters.nemo_rl.{_HOME[name]}")
    makers = {
        "ACTOR_ENVIRONMENTS": "actor_environments",
        "ACTOR_ENVIRONMENT_REGISTRY": "registry",
        "USE_SYSTEM_EXECUTABLE": "use_system_executable",
    }
    value: object = getattr(home, makers[name])() if name in makers else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names and nothing else."""
    return __all__
