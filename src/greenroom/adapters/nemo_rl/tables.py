"""The actors' table, and the registry of executables that is made from it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from greenroom import actor_environments as light
from greenroom.adapters.nemo_rl import executables, projects
from greenroom.adapters.nemo_rl.executables import Asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["actor_environments", "get_actor_python_env", "main", "registry", "use_system_executable"]

_PLAIN = {"extras", "groups", "default-groups", "project", "package", "python", *light.LAUNCH_KEYS}
"""Keys of an actor's table that a ``uv run`` line can say."""


def actor_environments() -> dict[str, list[str] | None]:
    """Return the declared actors: name -> extras, or None for the driver's interpreter.

    Actors whose environment is not the project's (requirements, a pylock) are not in it.

    :raises ValueError: an actor asks for extras that the project does not declare.
    """
    tables = projects.raw()
    found: dict[str, list[str] | None] = {}
    for actor in light.actors(tables):
        table = light.source(tables, actor)
        if table is None:
            found[actor.name] = None
        elif table.keys() <= _PLAIN:
            found[actor.name] = _strings(table.get("extras"))
    _check(found)
    return found


def registry() -> dict[str, str]:
    """Return actor -> ``py_executable``, to be changed by whoever wants to.

    :raises ValueError: as :func:`actor_environments`.
    """
    tables = projects.raw()
    _check(_home().ACTOR_ENVIRONMENTS)
    found = {
        name: executables.PY_EXECUTABLES.SYSTEM if extras is None else executables.uv_py_executable(extras)
        for name, extras in _home().ACTOR_ENVIRONMENTS.items()
    }
    for actor in light.actors(tables):
        table = light.source(tables, actor)
        if table is not None and table.keys() <= _PLAIN and table.keys() - {"extras", *light.LAUNCH_KEYS}:
            found[actor.name] = executables.written(_asked(table))
    if _home().USE_SYSTEM_EXECUTABLE:
        found = dict.fromkeys(found, executables.PY_EXECUTABLES.SYSTEM)
    return found


def use_system_executable() -> bool:
    """Tell whether every actor is to run on the driver's interpreter."""
    return os.environ.get("NEMO_RL_PY_EXECUTABLES_SYSTEM") == "1"


def get_actor_python_env(actor_class_fqn: str) -> str:
    """Return an actor's ``py_executable``.

    :raises ValueError: it is not in the registry; the message names the ways out.
    """
    known = _home().ACTOR_ENVIRONMENT_REGISTRY
    if actor_class_fqn not in known:
        near = _near(actor_class_fqn, known)
        msg = (
            f"no environment is registered for {actor_class_fqn}{near}: add it to the actors' table in "
            f"{projects.declaration()}, or set ACTOR_ENVIRONMENT_REGISTRY[{actor_class_fqn!r}], or pass a "
            "py_executable"
        )
        raise ValueError(msg)
    return known[actor_class_fqn]


def _near(name: str, known: Iterable[str]) -> str:
    """Return a known name that is near, in words; empty when none is."""
    from greenroom.errors import nearest  # noqa: PLC0415 - only when something is wrong

    near = nearest(name, known)
    return f" (did you mean {near}?)" if near else ""


def _build_stage(extras: Iterable[str]) -> str:
    """Return the image layer that can finish an environment."""
    return light._build_stage(extras)  # noqa: SLF001 - the name that the project's own tests call


def main(argv: Sequence[str] | None = None) -> int:
    """Print one row for each actor with an environment: name, stage, ``uv sync`` arguments.

    :param argv: a stage, and extras to skip; None: the process's.
    :returns: 0, or 2 after one line on standard error.
    """
    return light.main(argv, table=_home().ACTOR_ENVIRONMENTS)


def _home() -> _Names:
    """Return the module that users assign to: what they put there counts."""
    return sys.modules["greenroom.adapters.nemo_rl"]  # type: ignore[return-value]


class _Names:
    ACTOR_ENVIRONMENTS: dict[str, list[str] | None]
    ACTOR_ENVIRONMENT_REGISTRY: dict[str, str]
    USE_SYSTEM_EXECUTABLE: bool


def _check(table: dict[str, list[str] | None]) -> None:
    directory = projects.root()
    known = {light.normalized(extra) for extra in projects.extras(directory)}
    for actor, extras in table.items():
        unknown = [extra for extra in extras or () if light.normalized(extra) not in known]
        if unknown:
            words = ", ".join(repr(extra) for extra in unknown)
            msg = f"{actor} asks for {words}, which {directory}/pyproject.toml does not declare as an extra"
            raise ValueError(msg)


def _asked(table: dict[str, object]) -> Asked:
    named, package, python = (table.get(key) for key in ("project", "package", "python"))
    directory = projects.raw().root if isinstance(named, str) else projects.root()
    return Asked(
        directory=os.path.normpath(os.path.join(directory, named if isinstance(named, str) else ".")),
        extras=tuple(_strings(table.get("extras"))),
        groups=tuple(_strings(table.get("groups"))),
        default_groups=table.get("default-groups") is not False,
        package=package if isinstance(package, str) else None,
        python=python if isinstance(python, str) else None,
    )


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
