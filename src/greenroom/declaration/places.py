"""The servers of a declaration, declared ones and found ones, each with its directory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from greenroom.declaration import forms, servers, tables
from greenroom.declaration.discovery import matching
from greenroom.declaration.kinds import WRONG
from greenroom.declaration.naming import suffixes
from greenroom.errors import ServerDirectoryInvalid, use_one_of

if TYPE_CHECKING:
    from greenroom.declaration.kinds import Path
    from greenroom.declaration.report import Report

__all__ = ["Places"]

_SOURCES = frozenset(key.name for key in tables.SOURCE) | {"environment"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What is known of each server, by name."""

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)
    """Where each stands in the declaration: its own table, or the pattern that found it."""
    directories: dict[str, str] = field(default_factory=dict)
    """Absolute; a server whose table names another source may have none."""
    files: set[str] = field(default_factory=set)
    """What decides all this on the disk, absent files included."""

    @classmethod
    def find(cls, root: str, clean: dict[str, Any], report: Report) -> Places:
        """Return the servers of ``[servers]`` and of ``[discover]``.

        A found directory that a table names by ``path`` is that table's server. One whose name a table
        without path and source has is that table's, too. The others get a name of their own: the
        shortest end of their path that is unique.
        """
        places = cls()
        declared: dict[str, dict[str, Any]] = clean.get("servers", {})
        named = {
            name: os.path.normpath(os.path.join(root, t["path"]))
            for name, t in declared.items()
            if "path" in t
        }
        found = places._discover(root, clean.get("discover", {}).get("servers", []), report)
        free = [directory for directory in found if directory not in named.values()]
        taken = {name for name, table in declared.items() if not _SOURCES.isdisjoint(table) or name in named}
        names = {name: directory for directory, name in suffixes(free, root, taken).items()}
        for name, table in declared.items():
            path = ("servers", name)
            directory = named.get(name) or names.pop(name, None)
            if directory is None and _SOURCES.isdisjoint(table):
                if report.spoiled(path):
                    continue
                what = f"server {name!r} has neither a path nor a source, and is not among those found"
                todo = use_one_of(name, names) if names else "give its path"
                report.add(ServerDirectoryInvalid(what, where=report.where(path), todo=todo))
            else:
                places._add(name, table, path, directory)
        for name, directory in sorted(names.items(), key=lambda item: item[1]):
            if forms.SERVER_NAME.read(name, found[directory], report) is not WRONG:
                places._add(name, {}, found[directory], directory)
        return places

    def _add(self, name: str, table: dict[str, Any], path: Path, directory: str | None) -> None:
        self.tables[name], self.paths[name] = table, path
        if directory is not None:
            self.directories[name] = directory
            self.files.update(servers.watched(directory))

    def _discover(self, root: str, patterns: list[str], report: Report) -> dict[str, Path]:
        """Return the directories of servers with the pattern that found each first."""
        found: dict[str, Path] = {}
        for at, pattern in enumerate(patterns):
            path = ("discover", "servers", at)
            try:
                directories, watched = matching(root, pattern)
            except OSError as error:
                what = f"{error.filename} cannot be listed: {error.strerror}"
                report.add(ServerDirectoryInvalid(what, where=report.where(path), todo="correct the pattern"))
                continue
            self.files.update(watched)
            for directory in directories:
                # one that becomes a server later must be seen to become one
                self.files.update(servers.watched(directory)[:2])
                if servers.is_server(directory):
                    found.setdefault(directory, path)
        return found
