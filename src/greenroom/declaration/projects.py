"""What a uv project's ``pyproject.toml`` declares: the names that components may ask for.

A lock knows them too, but it is read later and may be absent or older; a misspelt name is to be said
together with the declaration's other problems.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.actor_environments import Fault, document, normalized
from greenroom.declaration.discovery import matching

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Project", "Projects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The names in one ``pyproject.toml``."""

    file: str
    name: str | None
    """Normalized; None: a workspace's root that is no project."""
    extras: tuple[str, ...] | None
    """As spelt; None: they are computed by the build backend, or there is no project."""
    groups: tuple[str, ...]
    members: tuple[str, ...]
    """The workspace's member patterns."""


class Projects:
    """Reads each ``pyproject.toml`` once in a reading of a declaration."""

    def __init__(self, report: Callable[[Fault], None], parse: Callable[[str], dict[str, object]]) -> None:
        self._report, self._parse = report, parse
        self._read: dict[str, Project | None] = {}
        self.files: set[str] = set()
        """What was looked at, absent files and listed directories included."""

    def read(self, directory: str) -> Project | None:
        """Return the project in a directory; None: it is absent, or broken and reported."""
        if directory not in self._read:
            path = os.path.join(directory, "pyproject.toml")
            self.files.add(path)
            self._read[directory] = None
            if os.path.lexists(path):
                try:
                    self._read[directory] = _project(path, document(path, self._parse)[1])
                except Fault as fault:
                    self._report(fault)
        return self._read[directory]

    def extras(self) -> tuple[str, ...] | None:
        """Return the extras of all projects that were read; None: not all are known."""
        found = self._read.values()
        if not all(project is not None and project.extras is not None for project in found):
            return None
        return tuple(extra for project in found if project for extra in project.extras or ())

    def member(self, root: Project, name: str) -> tuple[Project | None, tuple[str, ...] | None]:
        """Return a workspace's member by name, and the names of all members.

        :returns: the member, None when it is not found; all names, None when not all members are there
            (an image's dependency layer has only the root's files).
        """
        if root.name == normalized(name):
            return root, None
        found = [root]
        whole = True
        for pattern in root.members:
            directories, watched = matching(os.path.dirname(root.file), pattern)
            self.files.update(watched)
            read = [self.read(directory) for directory in directories]
            found += [project for project in read if project is not None]
            whole = whole and bool(read) and None not in read
        names = tuple(project.name for project in found if project.name)
        member = next((project for project in found if project.name == normalized(name)), None)
        return member, names if whole else None


def _project(path: str, content: dict[str, object]) -> Project:
    project, tool = _table(content, "project"), _table(_table(content, "tool"), "uv")
    dynamic = project.get("dynamic")
    extras = tuple(_table(project, "optional-dependencies"))
    hidden = not project or (isinstance(dynamic, list) and "optional-dependencies" in dynamic)
    members = _table(tool, "workspace").get("members")
    name = project.get("name")
    return Project(
        file=path,
        name=normalized(name) if isinstance(name, str) else None,
        extras=None if hidden else extras,
        groups=(*_table(content, "dependency-groups"), *(("dev",) if "dev-dependencies" in tool else ())),
        members=tuple(m for m in members if isinstance(m, str)) if isinstance(members, list) else (),
    )


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name)
    return value if isinstance(value, dict) else {}
