"""Make the environments of ``uv run`` lines ready in a store, as declared actors' are."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from greenroom import actor_environments as light
from greenroom.adapters.nemo_rl import executables, projects
from greenroom.errors import GreenroomError, Problems, StoreFailed
from greenroom.project.model import Setting
from greenroom.store import alias, layout, roots
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.builder.events import Event
    from greenroom.components import Declaration
    from greenroom.project.model import Plan, Planned

__all__ = ["environ", "make", "planned", "venv_dir"]

VENV_DIR = "NEMO_RL_VENV_DIR"


def venv_dir() -> str:
    """Return where environments are: ``NEMO_RL_VENV_DIR``, else ``venvs`` in the project."""
    return os.path.abspath(os.environ.get(VENV_DIR) or os.path.join(projects.root(), "venvs"))


def environ() -> dict[str, str]:
    """Return the variables of a build: the store is ``GREENROOM_STORE``, else where environments are."""
    return {"GREENROOM_STORE": venv_dir(), **os.environ}


def planned(wanted: Mapping[str, str]) -> Plan:
    """Return what the ``uv run`` lines of some actors ask for, and what is missing of it.

    Everything but the source is as the declaration says it for all.

    :param wanted: actor -> its line.
    :raises ValueError: a line cannot be read.
    :raises Problems: the declaration has errors, or an extra is not declared.
    """
    from greenroom.interpreters import discovery  # noqa: PLC0415 - the full road is heavy
    from greenroom.project import planning  # noqa: PLC0415

    declaration = _declared({name: executables.parse(line).table() for name, line in wanted.items()})
    variables = environ()
    setting = Setting(
        declaration=declaration,
        driver=discovery.driver(declaration.driver, variables),
        launcher=sys.executable,
        stores=layout.stores(declaration.store, variables),
    )
    return planning.Planner(setting, variables).plan(declaration.components)


def make(plan: Plan, *, force: bool = False) -> dict[str, str | GreenroomError]:
    """Build what is missing of a plan, all at the same time.

    Beside each environment stands a directory by the actor's name, for people and tools.

    :param force: build also what is ready anew.
    :returns: actor -> its interpreter's path in the store, or why there is none.
    """
    from greenroom.builder import syncing  # noqa: PLC0415 - starts processes
    from greenroom.builder.work import Job  # noqa: PLC0415

    store = layout.building(plan.setting.stores) if force or plan.missing else None
    jobs = [
        Job(
            key=found.key,
            components=found.components,
            recipe=found.recipe,
            supply=found.supply,
            interpreter=found.interpreter,
            replaces=found.built_at,
        )
        for found in plan.environments
        if force or found.state != State.READY
    ]
    errors: dict[str, GreenroomError] = {}
    if store is not None:
        results = syncing.sync(jobs, store, observer=_ignore, environ=environ())
        errors = {result.key: result.error for result in results if result.error is not None}
    made: dict[str, str | GreenroomError] = {
        name: problem.error for problem in plan.problems for name in problem.components
    }
    for found in plan.environments:
        place = found.store if found.state == State.READY or store is None else store
        for name in found.components:
            made[name] = errors.get(found.key) or place.interpreter(found.key)
            if found.key not in errors:
                _leave(found, name, place.environment(found.key))
    return made


def _leave(found: Planned, name: str, environment: str) -> None:
    """Leave a directory by the actor's name, which also keeps the environment from collection."""
    try:
        written = alias.write(venv_dir(), name, environment)
    except StoreFailed:  # a baked, read-only place: the interpreter's path is what counts
        return
    if found.store.writable:
        roots.register(found.store, written, [found.key])


def _declared(tables: Mapping[str, Mapping[str, object]]) -> Declaration:
    """Return the declaration with these actors in the place of its own components."""
    from tomli import loads  # noqa: PLC0415 - compiled: a third of tomllib's time

    from greenroom.declaration.assembly import Assembly  # noqa: PLC0415 - heavy

    path = projects.declaration()
    if path is None:
        directory = str(next(iter(tables.values()), {}).get("project", os.getcwd()))
        tables_of = light.Raw(os.path.join(directory, "pyproject.toml"), "", {})
    else:
        tables_of = light.load(path, loads)
    for key in ("actors", "registry", "servers", "discover", "host"):
        tables_of.table.pop(key, None)
    tables_of.table["actors"] = {name: dict(table) for name, table in tables.items()}
    assembly = Assembly(tables_of, loads)
    declaration = assembly.declaration()
    if assembly.report.errors:
        raise Problems(assembly.report.in_order())
    return declaration


def _ignore(_: Event) -> None:
    """Take an event and do nothing with it."""
