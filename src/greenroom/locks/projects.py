"""Select one environment from a uv project: its ``uv.lock``, and what ``[tool.uv]`` says."""

from __future__ import annotations

import os

from packaging.specifiers import SpecifierSet

from greenroom.errors import (
    ExtrasConflict,
    LockNeedsPython,
    LockUnreadable,
    PlatformNotLocked,
    UnknownExtra,
    UnknownGroup,
    UnknownMember,
)
from greenroom.locks import settings
from greenroom.locks.markers import Target
from greenroom.locks.markers import target as markers_of
from greenroom.locks.model import Selection
from greenroom.locks.uvlock import UvLock, load, normalize
from greenroom.locks.walking import Clash, Request, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.components import ProjectSource
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.uvlock import Table

__all__ = ["admits", "inputs", "local_sources", "lock_of", "select"]


def lock_of(source: ProjectSource) -> str:
    """Return the path of a project's lock."""
    return os.path.join(source.directory, "uv.lock")


def inputs(source: ProjectSource) -> tuple[str, ...]:
    """Return the files whose stat decides a selection, absent ones included.

    A member's ``pyproject.toml`` is among them: it says its default groups, and staleness reads it.
    """
    path = lock_of(source)
    directory = source.directory
    files = [path, os.path.join(directory, "pyproject.toml"), os.path.join(directory, "uv.toml")]
    if os.path.exists(path):
        files.extend(os.path.join(place, "pyproject.toml") for place in local_sources(load(path)).values())
    return tuple(dict.fromkeys(files))


def local_sources(lock: UvLock) -> dict[str, str]:
    """Return the directory of each local source in a lock, members and path sources, by name."""
    found = {}
    for package in lock.packages:
        for kind in ("editable", "virtual", "directory"):
            if kind in package["source"]:
                found[package["name"]] = os.path.normpath(os.path.join(lock.root, package["source"][kind]))
    return found


def select(source: ProjectSource, target: Interpreter, *, where: str) -> Selection:
    """Return what a project's lock gives for extras and groups on one target.

    :param where: the place in the declaration, for messages.
    :raises UnknownExtra, UnknownGroup, UnknownMember: the project does not declare what is asked for.
    :raises ExtrasConflict: what is asked for is declared as conflicting.
    :raises LockNeedsPython, PlatformNotLocked: the lock is not for this target.
    :raises LockMissing, LockUnreadable, LockTooNew, AmbiguousLock, SecretInSource: the lock is at fault.
    """
    lock = load(lock_of(source))
    request, notes = _request(lock, source, where)
    markers = markers_of(target.markers)
    _check_target(lock, target, markers)
    try:
        positions = walk(lock, request, markers)
        found = [lock.entry(at) for at in positions]
    except Clash as clash:
        raise ExtrasConflict(
            (*source.extras, *(f"group {group}" for group in source.groups)),
            conflict=[_say(item) for item in clash.active],
            declared=[_say(item) for item in clash.declared],
            through=clash.through,
            file=lock.path,
            where=where,
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        raise LockUnreadable(lock.path, str(error), todo="uv lock") from error
    chosen, files = settings.of_project(lock.root)
    names = [one.name for one in found]
    for name in {name for name in names if names.count(name) > 1}:
        lock.only(name, lock.by_name[name])
    return Selection(
        distributions=tuple(sorted(found, key=lambda one: one.name)),
        settings=chosen,
        files=(lock.path, *files),
        notes=notes,
    )


def _request(lock: UvLock, source: ProjectSource, where: str) -> tuple[Request, tuple[str, ...]]:
    roots = _roots(lock, source, where)
    known = {extra for root in roots for extra in lock.extras(root)}
    extras = tuple(dict.fromkeys(normalize(extra) for extra in source.extras))
    of = f"{source.package or lock.project or 'the workspace'} in {lock.path}"
    for extra in extras:
        if extra not in known:
            raise UnknownExtra(extra, known=known, of=of, where=where)
    groups, root_groups, notes = _groups(lock, source, roots, where)
    return Request(roots=roots, extras=extras, groups=groups, root_groups=root_groups), notes


def _groups(
    lock: UvLock, source: ProjectSource, roots: tuple[str, ...], where: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the groups of the roots, those of a workspace root that is none of them, and notes.

    A selected member has the root's groups only where they are asked for by name and it has none of
    that name; default groups are the member's own.
    """
    own = {group for root in roots for group in lock.groups(root)}
    above = {*lock.groups(lock.project), *lock.manifest.get("dependency-groups", {})}
    asked = tuple(dict.fromkeys(normalize(group) for group in source.groups))
    for group in asked:
        if group not in own | above:
            of = f"{source.package or lock.project or 'the workspace'} in {lock.path}"
            raise UnknownGroup(group, known=own | above, of=of, where=where)
    default: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if source.default_groups:
        pyproject, notes = _pyproject(lock, source.package)
        default = settings.default_groups(pyproject, sorted(own if source.package else own | above))
    groups = tuple(dict.fromkeys((*asked, *default)))
    if source.package is None:
        return groups, groups, notes
    return groups, tuple(group for group in asked if group not in own), notes


def _roots(lock: UvLock, source: ProjectSource, where: str) -> tuple[str, ...]:
    if source.package is None:
        return (lock.project,) if lock.project else lock.members
    name = normalize(source.package)
    if name not in lock.members:
        raise UnknownMember(source.package, known=lock.members, where=where)
    return (name,)


def _pyproject(lock: UvLock, package: str | None) -> tuple[Table | None, tuple[str, ...]]:
    """Return the ``pyproject.toml`` whose default groups count: the selected project's own."""
    directory = lock.root
    if package is not None and normalize(package) != lock.project:
        directory = local_sources(lock).get(normalize(package), lock.root)
    path = os.path.join(directory, "pyproject.toml")
    found = settings.table(path)
    note = f"{path} is absent: its default groups are taken to be uv's own (dev)"
    return found, () if found is not None else (note,)


def _check_target(lock: UvLock, target: Interpreter, markers: Target) -> None:
    if lock.requires_python and not admits(lock.requires_python, target.version):
        raise LockNeedsPython(lock.path, lock.requires_python, version=target.version, path=target.path)
    if lock.supported_markers and not any(markers.holds(marker) for marker in lock.supported_markers):
        raise PlatformNotLocked(lock.path, lock.supported_markers, platform=target.platform)


def admits(specifiers: str, version: str) -> bool:
    """Return whether a ``requires-python`` admits a version; a pre-release of it counts as it.

    :raises ValueError: the text is no specifier set.
    """
    return SpecifierSet(specifiers).contains(version, prereleases=True)


def _say(item: tuple[str, str, str]) -> str:
    package, kind, name = item
    if kind == "extra":
        return f"{package}[{name}]"
    return f"{package}:{name}" if kind == "group" else package
