"""Read ``pylock.toml`` and ``pylock.<name>.toml`` (PEP 751) and select from them.

Which name a file may have, what its markers may ask for and in which order one selects: the PyPA
specification «pylock.toml».
"""

from __future__ import annotations

import os
from typing import cast

from packaging.pylock import (
    Package,
    PackageSdist,
    PackageWheel,
    Pylock,
    PylockUnsupportedVersionError,
    PylockValidationError,
    is_valid_pylock_path,
)

from greenroom.errors import (
    AmbiguousLock,
    LockMissing,
    LockNeedsPython,
    LockTooNew,
    LockUnreadable,
    NotALockName,
    PlatformNotLocked,
    UnknownExtra,
    UnknownGroup,
)
from greenroom.locks import credentials, settings
from greenroom.locks.entries import file_name
from greenroom.locks.markers import target as markers_of
from greenroom.locks.model import Commit, Directory, File, Locked
from greenroom.locks.uvlock import Table, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from greenroom.components import PylockSource
    from greenroom.interpreters.model import Interpreter

__all__ = ["check_name", "load", "select"]

_loaded: dict[str, tuple[Table, Pylock]] = {}


def check_name(path: str, *, where: str) -> None:
    """Refuse a lock whose name installers refuse.

    :raises NotALockName: it is neither ``pylock.toml`` nor ``pylock.<name>.toml``.
    """
    from pathlib import PurePath  # noqa: PLC0415 - the library's argument

    if not is_valid_pylock_path(cast("Path", PurePath(path))):
        raise NotALockName(path, where=where)


def load(path: str, *, where: str, todo: str) -> Pylock:
    """Return a lock, validated once per content as its stat tells.

    :param where: who names it, and ``todo``: what to do, for the message when it is missing.
    :raises LockMissing: there is no such file.
    :raises LockUnreadable, LockTooNew: it is no lock that can be read.
    :raises SecretInSource: it holds a credential.
    """
    table = settings.table(path)
    if table is None:
        raise LockMissing(path, where=where, todo=todo)
    known = _loaded.get(path)
    if known is not None and known[0] is table:
        return known[1]
    try:
        lock = Pylock.from_dict(table)
    except PylockUnsupportedVersionError as error:
        raise LockTooNew(path, str(table.get("lock-version")), "1.0") from error
    except (PylockValidationError, ValueError, TypeError) as error:
        raise LockUnreadable(path, str(error)) from error
    _loaded[path] = (table, lock)
    return lock


def select(source: PylockSource, target: Interpreter, *, where: str, todo: str) -> tuple[Locked, ...]:
    """Return what a lock gives for extras and groups on one target, sorted by name.

    :param where: the place in the declaration, and ``todo``: how to make the lock, for messages.
    :raises UnknownExtra, UnknownGroup: the lock does not declare what is asked for.
    :raises LockNeedsPython, PlatformNotLocked: the lock is not for this target.
    :raises AmbiguousLock: two entries of one package apply.
    :raises LockMissing, LockUnreadable, LockTooNew, SecretInSource: as :func:`load`.
    """
    lock = load(source.path, where=where, todo=todo)
    extras, groups = _asked(lock, source, where)
    _check_target(lock, source.path, target)
    markers, directory = markers_of(target.markers), os.path.dirname(source.path)
    found: dict[str, Locked] = {}
    for package in lock.packages:
        marker = str(package.marker) if package.marker else None
        if not markers.holds(marker, extras=extras, groups=groups):
            continue
        if package.requires_python and not package.requires_python.contains(target.version, prereleases=True):
            raise LockNeedsPython(
                source.path,
                f"{package.requires_python} ({package.name})",
                version=target.version,
                path=target.path,
            )
        one = _locked(package, directory)
        if one.name in found:
            versions = [str(other.version or "a source") for other in (found[one.name], one)]
            raise AmbiguousLock(source.path, one.name, versions)
        found[one.name] = one
    return tuple(found[name] for name in sorted(found))


def _asked(lock: Pylock, source: PylockSource, where: str) -> tuple[frozenset[str], frozenset[str]]:
    known_extras = {str(extra) for extra in lock.extras or ()}
    defaults = {normalize(str(group)) for group in lock.default_groups or ()}
    known_groups = {normalize(str(group)) for group in lock.dependency_groups or ()} | defaults
    extras = {normalize(extra) for extra in source.extras}
    groups = {normalize(group) for group in source.groups}
    for extra in sorted(extras - known_extras):
        raise UnknownExtra(extra, known=known_extras, of=source.path, where=where)
    for group in sorted(groups - known_groups):
        raise UnknownGroup(group, known=known_groups, of=source.path, where=where)
    return frozenset(extras), frozenset(groups | defaults if source.default_groups else groups)


def _check_target(lock: Pylock, path: str, target: Interpreter) -> None:
    if lock.requires_python and not lock.requires_python.contains(target.version, prereleases=True):
        raise LockNeedsPython(path, str(lock.requires_python), version=target.version, path=target.path)
    supported = [str(marker) for marker in lock.environments or ()]
    markers = markers_of(target.markers)
    if supported and not any(markers.holds(marker) for marker in supported):
        raise PlatformNotLocked(path, supported, platform=target.platform)


def _locked(package: Package, base: str) -> Locked:
    name = normalize(str(package.name))
    version = str(package.version) if package.version is not None else None
    if package.vcs is not None:
        place = package.vcs.url or os.path.normpath(os.path.join(base, package.vcs.path or ""))
        commit = Commit(
            url=credentials.strip(place).removeprefix("git+"),
            commit=package.vcs.commit_id,
            subdirectory=package.vcs.subdirectory,
        )
        return Locked(name=name, version=version, commit=commit)
    if package.directory is not None:
        directory = Directory(
            path=os.path.normpath(os.path.join(base, package.directory.path)),
            editable=bool(package.directory.editable),
            subdirectory=package.directory.subdirectory,
        )
        return Locked(name=name, version=version, directory=directory)
    if package.archive is not None:
        archive = package.archive
        file = _file(None, (archive.url, archive.path), archive.size, archive.hashes, base)
        return Locked(name=name, version=version, archive=file, archive_subdirectory=archive.subdirectory)
    return Locked(
        name=name,
        version=version,
        index=credentials.strip(package.index) if package.index else None,
        wheels=tuple(_published(wheel, base) for wheel in package.wheels or ()),
        sdist=_published(package.sdist, base) if package.sdist else None,
    )


def _published(file: PackageWheel | PackageSdist, base: str) -> File:
    return _file(file.name, (file.url, file.path), file.size, file.hashes, base)


def _file(
    name: str | None,
    place: tuple[str | None, str | None],
    size: int | None,
    hashes: Mapping[str, str],
    base: str,
) -> File:
    url, path = place
    location = credentials.strip(url) if url else os.path.normpath(os.path.join(base, path or ""))
    return File(name=name or file_name(location), location=location, sha256=hashes.get("sha256"), size=size)
