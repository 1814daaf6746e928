"""``uv run …`` as the name of an environment: written for extras, and read back into what it asks for."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass

from greenroom import actor_environments as light
from greenroom.adapters.nemo_rl import projects
from greenroom.errors import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Asked", "Executables", "is_uv", "parse", "uv_py_executable", "written"]

_WITH_VALUE = {
    "--extra": "extras",
    "--group": "groups",
    "--directory": "directory",
    "--project": "directory",
    "--package": "package",
    "--python": "python",
    "-p": "python",
}
_ALONE = {"--locked", "--frozen", "--exact", "--no-default-groups", "--all-extras"}
_QUIET = {"-q", "--quiet", "-v", "--verbose", "--no-progress", "--offline"}
"""What changes nothing in the environment."""
_REASONS = {
    "--with": "what is not in the project's lock has no hash; add it to an extra",
    "--no-dev": "write --no-default-groups and the groups that are wanted",
    "--no-sync": "the environment is always what the lock says",
    "--isolated": "every environment is its own already",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a ``uv run`` line asks for."""

    directory: str
    """The uv project's, absolute."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    default_groups: bool = True
    package: str | None = None
    python: str | None = None

    def table(self) -> dict[str, object]:
        """Return the same as an actor's table of a declaration."""
        table: dict[str, object] = {"project": self.directory, "extras": list(self.extras)}
        if self.groups:
            table["groups"] = list(self.groups)
        if not self.default_groups:
            table["default-groups"] = False
        if self.package is not None:
            table["package"] = self.package
        if self.python is not None:
            table["python"] = self.python
        return table


class Executables:
    """``PY_EXECUTABLES``: ``SYSTEM`` is the driver's interpreter, ``BASE`` the project without extras.

    Any other name in capitals stands for the extra of that name: ``PY_EXECUTABLES.VLLM``.
    """

    @property
    def SYSTEM(self) -> str:  # noqa: N802 - the project's own name
        """The driver's interpreter."""
        return sys.executable

    @property
    def BASE(self) -> str:  # noqa: N802 - the project's own name
        """The project's own dependencies."""
        return uv_py_executable(())

    def __getattr__(self, name: str) -> str:
        """Return the line for an extra.

        :raises AttributeError: the project declares no extra of this name.
        """
        for extra in projects.extras(projects.root()) if name.isupper() else ():
            if light.normalized(extra) == light.normalized(name):
                return uv_py_executable([extra])
        msg = f"PY_EXECUTABLES has no {name!r}: {projects.root()} declares no such extra"
        raise AttributeError(msg)


PY_EXECUTABLES = Executables()


def uv_py_executable(extras: Iterable[str]) -> str:
    """Return the line that names the environment of some extras of the project."""
    return written(Asked(directory=projects.root(), extras=tuple(extras)))


def written(asked: Asked) -> str:
    """Return the ``uv run`` line that asks for an environment."""
    words = ["uv", "run", "--locked"]
    words += ["--no-default-groups"] if not asked.default_groups else []
    words += [word for extra in asked.extras for word in ("--extra", extra)]
    words += [word for group in asked.groups for word in ("--group", group)]
    words += ["--package", asked.package] if asked.package is not None else []
    words += ["--python", asked.python] if asked.python is not None else []
    return shlex.join([*words, "--directory", asked.directory])


def is_uv(py_executable: str) -> bool:
    """Tell whether a ``py_executable`` is a ``uv run`` line, not an interpreter."""
    words = py_executable.split(maxsplit=2)
    return len(words) > 1 and os.path.basename(words[0]) == "uv" and words[1] == "run"


def parse(py_executable: str) -> Asked:
    """Read a ``uv run`` line: nothing in it is passed over.

    ``--locked`` and ``--frozen`` say what always holds: the lock is used as it is, and one that does not fit
    its ``pyproject.toml`` is an error.

    :raises ValueError: it is no such line, or has an option that cannot be kept.
    """
    if not is_uv(py_executable):
        msg = f"{py_executable!r} is no `uv run` line"
        raise ValueError(msg)
    given: dict[str, list[str]] = {name: [] for name in _WITH_VALUE.values()}
    alone: set[str] = set()
    words = shlex.split(py_executable)[2:]
    while words:
        word = words.pop(0)
        if word in {"--", "python", "python3"} or not word.startswith("-"):
            _check_command([] if word == "--" else [word], words, py_executable)
            break
        name, equals, value = word.partition("=")
        if name in _WITH_VALUE:
            if not equals and not words:
                raise _refused(name, py_executable, "it needs a value")
            given[_WITH_VALUE[name]].append(value if equals else words.pop(0))
        elif not equals and name in _ALONE:
            alone.add(name)
        elif name not in _QUIET:
            raise _refused(name, py_executable, _REASONS.get(name) or _suggestion(name))
    directory = os.path.abspath((given["directory"] or [projects.root()])[-1])
    extras = projects.extras(directory) if "--all-extras" in alone else given["extras"]
    return Asked(
        directory=directory,
        extras=tuple(dict.fromkeys(extras)),
        groups=tuple(dict.fromkeys(given["groups"])),
        default_groups="--no-default-groups" not in alone,
        package=given["package"][-1] if given["package"] else None,
        python=given["python"][-1] if given["python"] else None,
    )


def _check_command(first: list[str], rest: list[str], line: str) -> None:
    command = [*first, *rest]
    if command and (len(command) > 1 or command[0] not in {"python", "python3"}):
        raise _refused(command[0], line, "an actor's interpreter is started, nothing else")


def _suggestion(name: str) -> str:
    near = nearest(name, [*_WITH_VALUE, *_ALONE, *_QUIET])
    return f"did you mean {near}?" if near else "what it changes cannot be kept"


def _refused(what: str, line: str, reason: str) -> ValueError:
    return ValueError(f"{what} in {line!r}: {reason}")
