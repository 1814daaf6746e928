"""The one place that says what the process of a component is started with.

Interpreter by path, ``VIRTUAL_ENV`` the environment's directory, its ``bin`` first on PATH, and
nothing of what the caller's own environment left behind. Needs no uv, writes nothing, and is on
the start-up path of ``greenroom run``: it imports little.
"""

from __future__ import annotations

import os

from greenroom.errors import CommandNotFound, CommandNotStarted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, NoReturn

__all__ = ["block", "execute", "program", "variables", "virtual_environment"]

REMOVED = (
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "CONDA_PROMPT_MODIFIER",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONPLATLIBDIR",
    "UV_BREAK_SYSTEM_PACKAGES",
    "UV_BUILD_CONSTRAINT",
    "UV_CONSTRAINT",
    "UV_ENV_FILE",
    "UV_EXCLUDE",
    "UV_FROZEN",
    "UV_INTERNAL__PARENT_INTERPRETER",
    "UV_ISOLATED",
    "UV_LOCKED",
    "UV_NO_SYNC",
    "UV_OVERRIDE",
    "UV_PROJECT",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON",
    "UV_RUN_RECURSION_DEPTH",
    "UV_SYSTEM_PYTHON",
    "UV_TARGET",
    "UV_WORKING_DIR",
    "UV_WORKING_DIRECTORY",
    "VIRTUAL_ENV",
    "VIRTUAL_ENV_PROMPT",
    "__PYVENV_LAUNCHER__",
)
"""What a caller's own environment leaves in the variables and no component may inherit."""

_PREFIXES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_PYTHONS = ("python", "python3")


def variables(
    environ: Mapping[str, str],
    *,
    environment: str | None,
    declared: Iterable[Sequence[str]] = (),
    bytecode: bool = True,
) -> dict[str, str]:
    """Return the whole environment block of a component's process.

    :param environ: the caller's variables; they are not changed.
    :param environment: the environment's directory (``sys.prefix``); None for an interpreter that is
        in no virtual environment.
    :param declared: pairs of the component's own variables, the later ones winning. They replace the
        caller's; a declared PATH stands behind the environment's ``bin``.
    :param bytecode: False for an environment without compiled bytecode: its folders are read-only, so
        that each start would try in vain to write some.
    """
    found = {name: value for name, value in environ.items() if name not in REMOVED}
    left = [
        os.path.join(environ[name], "bin") for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)
    ]
    path = environ.get("PATH", os.defpath).split(os.pathsep)
    found["PATH"] = os.pathsep.join(entry for entry in path if entry.rstrip("/") not in left)
    found.update((name, value) for name, value in declared)
    if not bytecode and "PYTHONPYCACHEPREFIX" not in found:
        found["PYTHONDONTWRITEBYTECODE"] = "1"
    found.pop("VIRTUAL_ENV", None)
    if environment is not None:
        found["VIRTUAL_ENV"] = environment
        found["PATH"] = os.pathsep.join(filter(None, (os.path.join(environment, "bin"), found["PATH"])))
    return found


def block(
    environ: Mapping[str, str], *, environment: str | None, interpreter: str, launch: Mapping[str, Any]
) -> dict[str, str]:
    """Return the environment block for a component as the no-op road describes it.

    :param interpreter: the interpreter's path; on the driver's, its own virtual environment counts.
    :param launch: ``variables`` (pairs), ``env_file`` and ``bytecode``, as in a snapshot.
    :raises EnvFileInvalid: the file of variables cannot be used.
    """
    declared = list(launch["variables"])
    if launch["env_file"] is not None:
        from greenroom.project import envfile  # noqa: PLC0415 - few have one

        declared = [*envfile.read(launch["env_file"]), *declared]
    prefix = environment if environment is not None else virtual_environment(interpreter)
    return variables(environ, environment=prefix, declared=declared, bytecode=launch["bytecode"])


def virtual_environment(interpreter: str) -> str | None:
    """Return the virtual environment that an interpreter's path stands in, None for a bare one."""
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))
    return prefix if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")) else None


def program(command: Sequence[str], interpreter: str, block: Mapping[str, str]) -> str:
    """Return the path of what a command line starts, looked up on the component's own PATH.

    ``python`` and ``python3`` are the component's interpreter, whatever else PATH holds.

    :raises CommandNotFound: nothing of that name is there.
    """
    name = command[0]
    if name in _PYTHONS:
        return interpreter
    if os.sep in name:
        return name
    for folder in block.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise CommandNotFound(name)


def execute(path: str, command: Sequence[str], block: Mapping[str, str]) -> NoReturn:
    """Replace this process by a component's.

    :param path: as :func:`program` returns it.
    :param command: the argument list; its first item stays as it was written, except for Python,
        which finds its environment by it.
    :raises CommandNotFound: the path is not there.
    :raises CommandNotStarted: it is there and the system refuses to start it.
    """
    arguments = [path if command[0] in _PYTHONS else command[0], *command[1:]]
    try:
        os.execve(path, arguments, dict(block))  # noqa: S606 - what the user asked to run
    except FileNotFoundError as error:
        raise CommandNotFound(command[0]) from error
    except (OSError, ValueError) as error:
        raise CommandNotStarted(command[0], str(error)) from error
