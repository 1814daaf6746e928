"""Tell whether ``uv.lock`` still says what the project's files say, without uv and without the members.

``uv lock --check`` asks more (it may build metadata and ask the index) and cannot run where members
are absent. Compared are: requirements, extras, groups, their sources, overrides, constraints, build
constraints, excluded packages, static metadata, conflicts, environments, resolution settings, members
and ``requires-python``. A project's own version may change without a new lock: nothing that is
installed depends on it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from greenroom.errors import LockUnreadable
from greenroom.locks import equivalence, lowering, manifest, projects, settings
from greenroom.locks.uvlock import UvLock, load, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.locks.lowering import Context, Demands
    from greenroom.locks.uvlock import Table

__all__ = ["Found", "of", "watched"]

_known: dict[str, tuple[tuple[object, ...], Found]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a comparison gave."""

    differences: tuple[str, ...] = ()
    """In words, the package named: ``iniconfig ==2.0.0 → ==1.1.1``."""
    notes: tuple[str, ...] = ()
    """Members whose files are absent, so that nothing can be said of them."""


def of(directory: str) -> Found:
    """Return the differences between a project's files and its lock, remembered by their stat.

    :param directory: the workspace's root.
    :raises LockMissing, LockUnreadable, LockTooNew, SecretInSource: a file is at fault.
    """
    lock = load(os.path.join(directory, "uv.lock"))
    seen = (id(lock), *(_stat(path) for path in watched(directory)))
    known = _known.get(directory)
    if known is None or known[0] != seen:
        known = _known[directory] = (seen, _Comparison(lock).found())
    return known[1]


def watched(directory: str) -> tuple[str, ...]:
    """Return the files and folders whose stat decides :func:`of`, absent ones included.

    :raises LockMissing, LockUnreadable, LockTooNew, SecretInSource: the lock is at fault.
    """
    lock = load(os.path.join(directory, "uv.lock"))
    files = [os.path.join(place, "pyproject.toml") for place in projects.local_sources(lock).values()]
    files.append(os.path.join(lock.root, "pyproject.toml"))
    pyproject = settings.table(files[-1])
    return tuple(dict.fromkeys((*files, *manifest.member_folders(pyproject, lock.root))))


@dataclass(slots=True)
class _Comparison:
    """One comparison under way."""

    lock: UvLock
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def found(self) -> Found:
        """Compare everything."""
        root = settings.table(os.path.join(self.lock.root, "pyproject.toml"))
        if root is None:
            return Found(notes=(f"{self.lock.root}/pyproject.toml is absent: the lock is taken as it is",))
        sources = projects.local_sources(self.lock)
        known = {name: table for name, table in self._pyprojects(sources, root).items() if table is not None}
        members = {name: sources[name] for name in self.lock.members if name in sources}
        for name, table in known.items():
            inside = root if name in members else None
            context = lowering.Context.of(self.lock.root, sources[name], table, inside, members)
            self._guarded(sources[name], lambda n=name, t=table, c=context: self._package(n, t, c))  # type: ignore[misc]
        context = lowering.Context.of(self.lock.root, self.lock.root, root, None, members)
        self._guarded(self.lock.root, lambda: self._workspace(root, known, context))
        return Found(differences=tuple(dict.fromkeys(self.differences)), notes=tuple(self.notes))

    def _pyprojects(self, sources: dict[str, str], root: Table) -> dict[str, Table | None]:
        found: dict[str, Table | None] = {}
        for name, place in sources.items():
            same = os.path.realpath(place) == os.path.realpath(self.lock.root)
            found[name] = root if same else settings.table(os.path.join(place, "pyproject.toml"))
        absent = [name for name in self.lock.members if name in found and found[name] is None]
        if absent:
            self.notes.append(f"absent, so the lock is taken as it is for {', '.join(absent)}")
        return found

    def _guarded(self, place: str, compare: Callable[[], None]) -> None:
        try:
            compare()
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            file = os.path.join(place, "pyproject.toml")
            raise LockUnreadable(file, str(error)) from error

    def _package(self, name: str, pyproject: Table, context: Context) -> None:
        """Compare one local package's metadata."""
        project = settings.section(pyproject, "project")
        package = self.lock.package(name) or {}
        metadata = package.get("metadata", {})
        if project and normalize(str(project.get("name", name))) != name:
            self.differences.append(f"{name} is now named {normalize(str(project['name']))}")
            return
        dynamic = set(project.get("dynamic", ()))
        if project and not dynamic & {"dependencies", "optional-dependencies"}:
            now = lowering.declared(project.get("dependencies", ()), context)
            extras = {
                normalize(extra): lines
                for extra, lines in settings.section(project, "optional-dependencies").items()
            }
            for extra, lines in extras.items():
                for demand, marker in lowering.declared(lines, context, extra=extra).items():
                    now[demand] = equivalence.disjunction(now[demand], marker) if demand in now else marker
            self._demands("", lowering.locked(metadata.get("requires-dist", ()), context), now)
            if "provides-extras" in metadata or not extras:
                self._names("extra", set(metadata.get("provides-extras", ())), set(extras))
        groups = lowering.groups_of(pyproject)
        then = metadata.get("requires-dev", {})
        self._names("group", set(then), set(groups))
        for group in sorted(groups.keys() & then.keys()):
            now = lowering.declared(groups[group], context, group=group)
            self._demands(f"group {group}: ", lowering.locked(then[group], context), now)

    def _workspace(self, root: Table, known: dict[str, Table], context: Context) -> None:
        """Compare what belongs to the whole workspace."""
        uv = settings.section(root, "tool", "uv")
        stored = self.lock.manifest
        for key, listed in (
            ("constraints", "constraint-dependencies"),
            ("overrides", "override-dependencies"),
            ("build-constraints", "build-constraint-dependencies"),
        ):
            lines = uv.get(listed, ())
            if all(isinstance(line, str) for line in lines):
                then = lowering.locked(stored.get(key, ()), context)
                self._demands(f"{listed}: ", then, lowering.declared(lines, context))
        excluded = {normalize(str(name)) for name in uv.get("exclude-dependencies", ())}
        self._names("excluded package", set(stored.get("excludes", ())), excluded)
        if not settings.section(root, "project"):
            self._root_groups(root, context)
        members = {name: table for name, table in known.items() if name in self.lock.members}
        self.differences.extend(manifest.differences(self.lock, root, members))

    def _root_groups(self, root: Table, context: Context) -> None:
        """Compare the groups of a root without a project."""
        groups, then = lowering.groups_of(root), self.lock.manifest.get("dependency-groups", {})
        self._names("group", set(then), {name for name, lines in groups.items() if lines})
        for group in sorted(groups.keys() & then.keys()):
            now = lowering.declared(groups[group], context, group=group)
            self._demands(f"group {group}: ", lowering.locked(then[group], context), now)

    def _demands(self, where: str, then: Demands, now: Demands) -> None:
        python = self.lock.requires_python
        before: dict[str, list[str]] = {}
        after: dict[str, list[str]] = {}
        for mine, theirs, found in ((then, now, before), (now, then, after)):
            for demand, marker in mine.items():
                if demand not in theirs and equivalence.satisfiable(marker, python):
                    found.setdefault(demand.name, []).append(str(demand))
        for name in sorted(before.keys() | after.keys()):
            old, new = " and ".join(sorted(before.get(name, ()))), " and ".join(sorted(after.get(name, ())))
            if old and new:
                self.differences.append(f"{where}{name} {old} → {new}")
            else:
                self.differences.append(
                    f"{where}{name} {new} is new" if new else f"{where}{name} {old} is gone"
                )
        for demand in then.keys() & now.keys():
            if not equivalence.equivalent(then[demand], now[demand], python):
                self.differences.append(f"{where}{demand.name} {demand} applies elsewhere (extra or marker)")

    def _names(self, kind: str, then: set[str], now: set[str]) -> None:
        self.differences.extend(f"{kind} {name} is new" for name in sorted(now - then))
        self.differences.extend(f"{kind} {name} is gone" for name in sorted(then - now))


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)
