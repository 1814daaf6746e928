"""Turn a plan into the memory that the no-op road answers from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom import snapshot
from greenroom.errors import (
    GreenroomError,
    LockMissing,
    NotReadyError,
    PythonBroken,
    PythonNotFound,
    PythonTooOld,
    UvBroken,
    UvMissing,
    UvTooOld,
)
from greenroom.locks import generated
from greenroom.project import services
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.components import Component, EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.project.model import Plan, Planned

__all__ = ["answers", "memory", "remember"]


_OF_THE_MACHINE = (PythonBroken, PythonNotFound, PythonTooOld, UvBroken, UvMissing, UvTooOld)
"""Problems that an installation somewhere can solve, which no file that is watched would show."""


def answers(plan: Plan) -> list[snapshot.Answer]:
    """Return what a plan knows of each component, in the form in which the no-op road says it."""
    data = memory(plan, {})
    return [
        snapshot.Answer(name, found, data["environments"].get(found["key"], {}), found["state"])
        for name, found in data["components"].items()
    ]


def remember(plan: Plan, environ: Mapping[str, str], *, outputs: Iterable[str] | None = ()) -> bool:
    """Write the snapshot of a whole project's plan; what cannot be remembered is left to the full road.

    :param plan: of all components, made by a planner that watched.
    :param outputs: files that a sync leaves beside the environments; None: it could not, so that the next
        one is not free.
    :returns: whether it was written.
    """
    declaration = plan.setting.declaration
    file = snapshot.place(declaration.file, environ)
    if file is None or not plan.inputs:
        return False
    return snapshot.save(file, memory(plan, environ, outputs=outputs))


def memory(plan: Plan, environ: Mapping[str, str], *, outputs: Iterable[str] | None = ()) -> dict[str, Any]:
    """Return a plan as the snapshot's data."""
    declaration, setting = plan.setting.declaration, plan.setting
    numbers = {seen.path: number for number, seen in enumerate(plan.inputs)}
    bases: dict[tuple[Any, ...], int] = {}
    specs = dict.fromkeys(component.spec for component in declaration.components)
    variables = sorted({name for spec in specs for name in _variables(spec, declaration.root, environ)})
    return {
        "schema": snapshot.SCHEMA,
        "identity": snapshot.identity(declaration.file, environ),
        "declaration": declaration.file,
        "written": setting.began,
        "variables": {name: snapshot.digest_of_value(environ.get(name)) for name in variables},
        "stores": [store.path for store in setting.stores],
        "files": [[seen.path, seen.size, seen.mtime, seen.inode, seen.sha256] for seen in plan.inputs],
        "files_of_declaration": [numbers[path] for path in declaration.files if path in numbers],
        "environments": {found.key: _environment(found, bases) for found in plan.environments},
        "components": _components(plan, numbers, bases),
        "bases": [list(base) for base in bases],
        "notes": list(plan.notes),
        "outputs": None if outputs is None else [snapshot.look(path, content=False) for path in outputs],
    }


def _components(
    plan: Plan, numbers: Mapping[str, int], bases: dict[tuple[Any, ...], int]
) -> dict[str, dict[str, Any]]:
    keys = {name: found for found in plan.environments for name in found.components}
    errors = {name: problem.error for problem in plan.problems for name in problem.components}
    files = dict(plan.files)
    planned = keys.keys() | errors.keys() | set(plan.drivers)
    made: dict[str, dict[str, Any]] = {}
    for component in plan.setting.declaration.components:
        if component.name not in planned:
            continue
        about = _about(component)
        about["files"] = [numbers[path] for path in files.get(component.name, ()) if path in numbers]
        if component.name in keys:
            about["key"] = keys[component.name].key
            about["state"] = keys[component.name].state
        elif component.name in errors:
            error = errors[component.name]
            about |= {"state": State.STALE, "problem": str(error), "status": error.status}
            if isinstance(error, LockMissing | PythonNotFound):  # nothing is wrong: it cannot be ready yet
                about |= {"state": State.MISSING, "status": NotReadyError.status}
            about["fleeting"] = isinstance(error, _OF_THE_MACHINE)
        else:
            driver = plan.setting.driver
            about |= {"state": "driver", "interpreter": plan.setting.launcher, "python": driver.version}
            about["base"] = _base(driver, bases)
        made[component.name] = about
    return made


def _about(component: Component) -> dict[str, Any]:
    launch = component.launch
    spec = component.spec
    about: dict[str, Any] = {
        "kind": component.kind,
        "key": None,
        "launch": {
            "variables": [list(pair) for pair in launch.variables],
            "env_file": launch.env_file,
            "bytecode": spec is None or spec.options.compile_bytecode,
        },
    }
    if component.service is not None:
        about["launch"] |= {
            "directory": launch.directory,
            "command": list(launch.command),
            "service": services.plain(component.service),
        }
    return about


def _environment(found: Planned, bases: dict[tuple[Any, ...], int]) -> dict[str, Any]:
    store = found.store
    there = found.state in {State.READY, State.STALE}
    record = snapshot.look(store.record(found.key), content=False)[:4] if there else None
    return {
        "state": found.state,
        "reason": found.reason,
        "path": store.environment(found.key),
        "interpreter": store.interpreter(found.key),
        "python": found.interpreter.version,
        "record": record,
        "base": _base(found.interpreter, bases),
    }


def _base(found: Interpreter, bases: dict[tuple[Any, ...], int]) -> int:
    return bases.setdefault((found.path, *found.stat), len(bases))


def _variables(spec: EnvironmentSpec | None, root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the caller's variables that decide an environment's content."""
    if spec is None:
        return ()
    named = tuple(name for name, value in spec.options.build_env if value is None)
    if not isinstance(spec.source, generated.LOCKED_HERE):
        return named
    from greenroom.locks import origins  # noqa: PLC0415 - heavy: only where there is such a source

    try:
        return (*named, *origins.of(spec, root, environ).variables)
    except GreenroomError:  # its inputs cannot be read, and so it has a problem instead of a key
        return named
