"""Look at what a directory holds that a first declaration can be made from. Nothing is executed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom import actor_environments
from greenroom.actor_environments import Fault, content, document, normalized
from greenroom.declaration.discovery import matching

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Evidence", "look"]

_DEEPEST = 6
_PASSED_OVER = frozenset(
    ("node_modules", "site-packages", "__pycache__", "build", "dist", "docs", "test", "tests", "venv")
)
_MANIFESTS = ("requirements.txt", "pyproject.toml")
_PROGRAMS = ("app.py", "main.py", "server.py", "__main__.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found; paths are relative to the directory, with ``/``."""

    name: str | None = None
    """The uv project's."""
    extras: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    """Declared sets of the project's own extras that exclude each other."""
    locked: bool = False
    servers: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    """Directories with both a requirements.txt and a pyproject.toml."""
    programs: tuple[tuple[str, str], ...] = ()
    """Server -> the file that looks like its program."""
    requirements: bool = False
    """Whether the directory itself has a requirements.txt and is no project."""
    registries: tuple[tuple[str, int], ...] = ()
    """Python files with a literal table, and its number of actors."""
    faults: tuple[str, ...] = ()
    """What looks like evidence and cannot be read."""


def look(directory: str) -> Evidence:
    """Return what is in a directory.

    :raises Fault: its ``pyproject.toml`` cannot be read.
    """
    path = os.path.join(directory, "pyproject.toml")
    pyproject = document(path)[1] if os.path.lexists(path) else {}
    project, tool = _table(pyproject, "project"), _table(_table(pyproject, "tool"), "uv")
    name = project.get("name")
    name = name if isinstance(name, str) else None
    folders = list(_folders(directory))
    registries, faults = _registries(directory, folders)
    parts = {directory, *_members(directory, tool)}
    inside = {
        os.path.relpath(at, directory).replace(os.sep, "/"): names for at, names in folders if at not in parts
    }
    manifests = {at: [name for name in _MANIFESTS if name in names] for at, names in inside.items()}
    programs = {
        at: [name for name in _PROGRAMS if name in inside[at]][:1] for at, found in manifests.items() if found
    }
    return Evidence(
        name=name,
        extras=tuple(_table(project, "optional-dependencies")),
        conflicts=tuple(_conflicts(tool, name)),
        locked=os.path.isfile(os.path.join(directory, "uv.lock")),
        servers=tuple(sorted(at for at, found in manifests.items() if len(found) == 1)),
        doubtful=tuple(sorted(at for at, found in manifests.items() if len(found) == 2)),
        programs=tuple(sorted((at, program) for at, found in programs.items() for program in found)),
        requirements=not project and os.path.isfile(os.path.join(directory, "requirements.txt")),
        registries=registries,
        faults=faults,
    )


def _registries(
    directory: str, folders: list[tuple[str, list[str]]]
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """Return the Python files with a literal table and its size, and what is wrong with others."""
    found, faults = [], []
    for folder, names in folders:
        for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
            try:
                count = _actors(path)
            except Fault as fault:
                faults.append(str(fault))
                continue
            if count:
                found.append((os.path.relpath(path, directory).replace(os.sep, "/"), count))
    return tuple(sorted(found)), tuple(sorted(faults))


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name)
    return value if isinstance(value, dict) else {}


def _conflicts(tool: dict[str, Any], name: str | None) -> Iterator[tuple[str, ...]]:
    """Yield the declared conflicts that are between the project's own extras only."""
    sets = tool.get("conflicts")
    for members in sets if isinstance(sets, list) else ():
        items = [item for item in (members if isinstance(members, list) else ()) if isinstance(item, dict)]
        extras = tuple(str(item["extra"]) for item in items if "extra" in item)
        packages = {normalized(str(item.get("package", name))) for item in items}
        if 1 < len(extras) == len(items) and packages == {normalized(str(name))}:
            yield extras


def _members(directory: str, tool: dict[str, Any]) -> Iterator[str]:
    """Yield the directories of workspace members and path sources: parts of the project, no servers."""
    patterns = _table(tool, "workspace").get("members")
    for pattern in patterns if isinstance(patterns, list) else ():
        yield from matching(directory, str(pattern))[0]
    for source in _table(tool, "sources").values():
        for one in source if isinstance(source, list) else [source]:
            if isinstance(one, dict) and isinstance(one.get("path"), str):
                yield os.path.normpath(os.path.join(directory, one["path"]))


def _folders(directory: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder that may hold an author's files, with its sorted file names."""
    for folder, folders, names in os.walk(directory):
        depth = len(os.path.relpath(folder, directory).split(os.sep))
        inner = [name for name in folders if name not in _PASSED_OVER and not name.startswith(".")]
        folders[:] = sorted(inner) if depth < _DEEPEST and "pyvenv.cfg" not in names else []
        if "pyvenv.cfg" not in names:
            yield folder, sorted(names)


def _actors(path: str) -> int:
    """Return how many actors a Python file's literal table holds; 0 when it has none."""
    try:
        if b"ACTOR_ENVIRONMENTS" not in content(path):
            return 0
    except Fault:  # not readable: no evidence
        return 0
    return len(actor_environments.actors(actor_environments.load(path)))
