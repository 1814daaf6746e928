"""Give an actor's runtime environment on the driver: checked, complete, and without a secret in it."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

from greenroom.errors import (
    EnvFileInRuntimeEnv,
    EnvironmentMissing,
    UnknownActor,
    UnknownComponent,
    UvRunHookActive,
)
from greenroom.project import answering, launching
from greenroom.ray import merging, naming, preflight

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from greenroom.snapshot import Answer

__all__ = ["Found", "find", "python_executable", "runtime_env"]

DRIVER, PROJECT, STORE = "GREENROOM_DRIVER", "GREENROOM_PROJECT", "GREENROOM_STORE"


class Found:
    """An actor as the declaration knows it, and where that stands."""

    __slots__ = ("answer", "declaration", "environ")

    def __init__(self, answer: Answer, declaration: str, environ: Mapping[str, str]) -> None:
        self.answer = answer
        self.declaration = declaration
        """The declaration's path."""
        self.environ = environ
        """The variables that it was read with."""


def runtime_env(
    actor: Any,
    *,
    project: str | os.PathLike[str] | None = None,
    missing: Literal["refuse", "sync", "plugin"] = "refuse",
    needs: Iterable[str] = (),
    allow_mismatch: bool = False,
    env_file: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """Return the ``runtime_env`` in which Ray starts an actor on its own environment.

    Nothing is started or built (unless ``missing`` says so); what would fail is an error here, before
    the actor is created.

    :param actor: the declared name, the class, or what ``ray.remote`` made of it.
    :param project: where the declaration is; None: ``GREENROOM_PROJECT``, else the working directory.
    :param missing: what to do when the environment is not ready here: ``refuse``; ``sync`` builds it
        now; ``plugin`` leaves it to the nodes, all of which must have the plugin then.
    :param needs: extras of Ray that the use needs: ``serve``, ``data``.
    :param allow_mismatch: take another patch release of Python, and another Ray.
    :param env_file: put the values of the actor's ``env-file`` into the runtime environment, which Ray
        writes to its logs.
    :param more: other fields, as in Ray: ``env_vars``, ``working_dir``, ``py_modules``, ``config``.
    :raises UnknownActor: it is not declared.
    :raises NotReadyError: its environment is not ready.
    :raises RuntimeEnvConflict: a field of the call or of the job wants another interpreter.
    :raises RayMismatch: its Ray is not the cluster's; so ``RayMissing``, ``RayExtraMissing``,
        ``PatchMismatch`` and ``MinorMismatch``.
    :raises UvRunHookActive: the driver runs under ``uv run``, whose hook would override the job's fields.
    """
    inherited = _inherited()
    found = find(actor, project, missing=missing)
    answer = found.answer
    if answer.key is not None:
        expected = preflight.own()
        if answer.state == "missing":
            _check_planned(found, expected, allow_mismatch=allow_mismatch)
        else:
            preflight.check(
                answer.name,
                answer.environment or "",
                answer.python,
                expected,
                needs=needs,
                allow_mismatch=allow_mismatch,
            )
    own = {
        "interpreter": answer.interpreter,
        "greenroom": {"key": answer.key, "source": _source(found)},
        "env_vars": _variables(found, env_file=env_file),
    }
    return merging.merged(own, more, inherited, actor=answer.name)


def python_executable(actor: Any, *, project: str | os.PathLike[str] | None = None) -> str:
    """Return the path of an actor's interpreter; the same on every node that shares the store's path.

    :raises UnknownActor: it is not declared.
    :raises NotReadyError: its environment is not ready.
    """
    return find(actor, project).answer.interpreter or ""


def find(
    actor: Any,
    project: str | os.PathLike[str] | None = None,
    *,
    missing: Literal["refuse", "sync", "plugin"] = "refuse",
) -> Found:
    """Find an actor in the declaration, with an environment that is ready or may be made so.

    :raises UnknownActor: none of its names is declared as an actor.
    :raises NotReadyError: its environment is not ready.
    """
    from greenroom.declaration import reading  # noqa: PLC0415 - after the names are checked

    names = naming.candidates(actor)
    environ = dict(os.environ)
    declaration = reading.find_declaration(None if project is None else os.fspath(project), environ)
    if missing == "sync":
        _synced(names, declaration, environ)
    answer = _answer(names, declaration, environ)
    error = answering.not_ready(answer)
    if error is not None and not (answer.state == "missing" and missing == "plugin"):
        raise error
    return Found(answer, declaration, environ)


def _synced(names: tuple[str, ...], declaration: str, environ: Mapping[str, str]) -> None:
    """Build an actor's environment, its lock included, unless it is there.

    :raises Problems: it cannot be built.
    """
    try:
        answer = _answer(names, declaration, environ)
        name, ready = answer.name, answering.not_ready(answer) is None
    except EnvironmentMissing as error:  # its lock, or the choice of its interpreter, is still to be made
        name, ready = error.name, False
    if not ready:
        from greenroom.project import facade  # noqa: PLC0415 - heavy: only to build

        facade.Project(declaration, environ).sync([name])


def _answer(names: tuple[str, ...], declaration: str, environ: Mapping[str, str]) -> Answer:
    known: tuple[str, ...] = ()
    for name in names:
        try:
            answer = answering.one(declaration, environ, name)
        except UnknownComponent as error:
            known = error.known
            continue
        if answer.kind == "actor":
            return answer
        known = ()
    raise UnknownActor(names[0], known=known, declaration=declaration)


def _source(found: Found) -> dict[str, Any]:
    """Return what a node makes the environment from: references, no content and no secret."""
    answer = found.answer
    return {
        "component": answer.name,
        "declaration": found.declaration,
        "store": os.path.dirname(answer.environment) if answer.environment else None,
        "variables": sorted(str(pair[0]) for pair in answer.launch["variables"]),
    }


def _variables(found: Found, *, env_file: bool) -> dict[str, str]:
    """Return the variables of a worker; what it must not see is removed when it starts."""
    answer, launch = found.answer, found.answer.launch
    variables: dict[str, str] = {}
    if launch["env_file"] is not None:
        if not env_file:
            raise EnvFileInRuntimeEnv(answer.name, launch["env_file"])
        from greenroom.project import envfile  # noqa: PLC0415 - few have one

        variables.update(envfile.read(launch["env_file"]))
    variables.update((str(name), str(value)) for name, value in launch["variables"])
    prefix = answer.environment or launching.virtual_environment(answer.interpreter or "")
    if prefix is not None:
        variables["VIRTUAL_ENV"] = prefix
    if not launch["bytecode"] and "PYTHONPYCACHEPREFIX" not in variables:
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
    # What an actor needs to find the same declaration, store and driver when it creates another. Ray
    # would expand a dollar sign in them.
    known = {
        PROJECT: found.declaration,
        DRIVER: found.environ.get(DRIVER) or _declared_driver(found.declaration) or sys.executable,
        STORE: found.environ.get(STORE, ""),
    }
    variables.update((name, value) for name, value in known.items() if value and "$" not in value)
    return variables


def _declared_driver(declaration: str) -> str | None:
    return _read_driver(declaration, os.stat(declaration).st_mtime_ns)


@functools.cache
def _read_driver(declaration: str, _: int) -> str | None:
    from greenroom.declaration import reading  # noqa: PLC0415 - heavy, and once for each declaration

    named = reading.read(declaration, dict(os.environ)).driver
    return os.path.abspath(os.path.expanduser(named)) if named else None


def _check_planned(found: Found, expected: preflight.Versions, *, allow_mismatch: bool) -> None:
    """Check what is not built yet by what its lock says."""
    from greenroom.project import facade  # noqa: PLC0415 - the full road is heavy

    packages = facade.Project(found.declaration, found.environ).packages(found.answer.name)
    has = preflight.Versions(ray=packages.get("ray"), python=found.answer.python)
    for error in preflight.problems(found.answer.name, has, expected, allow_mismatch=allow_mismatch):
        raise error


def _inherited() -> Mapping[str, Any]:
    """Return the runtime environment of this job, or of the actor that this process is.

    :raises UvRunHookActive: it is not known yet, and will be overridden by the hook of ``uv run``.
    """
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        return dict(ray.get_runtime_context().runtime_env)
    hook = os.environ.get("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "1").lower() in {"1", "true"}
    if hook and "UV_RUN_RECURSION_DEPTH" in os.environ:
        raise UvRunHookActive
    return {}
