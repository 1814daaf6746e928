"""Read ``uv.lock``: its packages, members, extras, groups and conflicts.

The format is uv's (version 1, any revision). Tables stay as they were parsed, because a lock holds
thousands of files of which one environment needs a few hundred; :mod:`greenroom.locks.entries`
turns those that were selected into :class:`~greenroom.locks.model.Locked`.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import Any

import tomli

from greenroom.errors import AmbiguousLock, LockMissing, LockTooNew, LockUnreadable
from greenroom.locks import credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.locks.model import Locked

__all__ = ["UvLock", "load", "normalize", "parse"]

Table = dict[str, Any]
_VERSION = 1
_loaded: dict[str, tuple[tuple[int, int, int], UvLock]] = {}


class UvLock:
    """One parsed lock, read-only.

    :param path: the file's absolute path.
    :param table: its content.
    """

    def __init__(self, path: str, table: Table) -> None:
        self.path = path
        self.root = os.path.dirname(path)
        self.manifest: Table = table.get("manifest", {})
        self.options: Table = table.get("options", {})
        self.packages: list[Table] = table.get("package", [])
        self.requires_python: str | None = table.get("requires-python")
        self.supported_markers: tuple[str, ...] = tuple(table.get("supported-markers", ()))
        self.required_markers: tuple[str, ...] = tuple(table.get("required-markers", ()))
        self.conflicts = tuple(
            tuple(_conflict_item(item) for item in group) for group in table.get("conflicts", ())
        )
        """Each declared set: (package, ``extra`` | ``group`` | ``project``, name)."""
        self._entries: dict[int, Locked] = {}

    @cached_property
    def by_name(self) -> Mapping[str, tuple[int, ...]]:
        """Package name -> positions in :attr:`packages`."""
        found: dict[str, list[int]] = {}
        for position, package in enumerate(self.packages):
            found.setdefault(package["name"], []).append(position)
        return {name: tuple(positions) for name, positions in found.items()}

    @cached_property
    def project(self) -> str | None:
        """The name of the root's own project; None for a workspace without one."""
        for package in self.packages:
            source = package["source"]
            if any(source.get(kind) == "." for kind in ("editable", "virtual", "directory")):
                return str(package["name"])
        return None

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The workspace's members; the project alone where the lock lists none."""
        listed = tuple(self.manifest.get("members", ()))
        return listed or ((self.project,) if self.project else ())

    def package(self, name: str) -> Table | None:
        """Return the one entry of a member, or None."""
        positions = self.by_name.get(name, ())
        return self.packages[positions[0]] if len(positions) == 1 else None

    def extras(self, name: str) -> tuple[str, ...]:
        """Return the extras that a member declares."""
        package = self.package(name) or {}
        provided = package.get("metadata", {}).get("provides-extras", ())
        return tuple(dict.fromkeys((*provided, *package.get("optional-dependencies", {}))))

    def groups(self, name: str | None) -> tuple[str, ...]:
        """Return the dependency groups that a member declares itself."""
        package = (self.package(name) if name else None) or {}
        declared = package.get("metadata", {}).get("requires-dev", {})
        return tuple(dict.fromkeys((*package.get("dev-dependencies", {}), *declared)))

    def entry(self, at: int) -> Locked:
        """Return the package at a position as locked data; environments that have it share one.

        :raises KeyError, TypeError: the entry has another shape than uv's.
        """
        known = self._entries.get(at)
        if known is None:
            from greenroom.locks.entries import locked  # noqa: PLC0415 - only when an environment is read

            known = self._entries[at] = locked(self.packages[at], self.root)
        return known

    def find(self, dependency: Table) -> int:
        """Return the position of the package that a dependency's entry means.

        :raises AmbiguousLock: the entry fits none, or several.
        """
        positions = self.by_name.get(dependency["name"], ())
        if len(positions) == 1:
            return positions[0]
        said = [(key, dependency[key]) for key in ("version", "source") if key in dependency]
        return self.only(
            dependency["name"],
            [at for at in positions if all(self.packages[at].get(key) == value for key, value in said)],
        )

    def only(self, name: str, positions: Sequence[int]) -> int:
        """Return the one position that fits.

        :raises AmbiguousLock: there is none, or several.
        """
        if len(positions) == 1:
            return positions[0]
        found = [str(self.packages[at].get("version", "a source")) for at in positions]
        raise AmbiguousLock(self.path, name, found)


def load(path: str) -> UvLock:
    """Return a lock, parsed once per content as its stat tells.

    :raises LockMissing: there is no such file.
    :raises LockUnreadable: it is no lock of uv's.
    :raises LockTooNew: its format is of a later version.
    :raises SecretInSource: it holds a credential.
    """
    path = os.path.abspath(path)
    try:
        stat = os.stat(path)
    except OSError as error:
        raise _missing(path) from error
    seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    known = _loaded.get(path)
    if known is not None and known[0] == seen:
        return known[1]
    table, text = parse(path)
    lock = _checked(path, table)
    credentials.refuse(text, path)
    _loaded[path] = (seen, lock)
    return lock


def parse(path: str) -> tuple[Table, str]:
    """Return a TOML file's table and text.

    :raises LockUnreadable: it cannot be read or is no TOML.
    """
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
        return tomli.loads(text), text
    except tomli.TOMLDecodeError as error:
        raise LockUnreadable(path, error.msg, line=error.lineno) from error
    except UnicodeDecodeError as error:
        raise LockUnreadable(path, "not UTF-8") from error
    except RecursionError as error:
        raise LockUnreadable(path, "nested too deeply") from error
    except OSError as error:
        raise LockUnreadable(path, error.strerror or str(error)) from error


def normalize(name: str) -> str:
    """Return a name of a package, extra or group in its normal form (PEP 503, PEP 685, PEP 735)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _missing(path: str) -> Exception:
    directory = os.path.dirname(path)
    return LockMissing(path, where=directory, todo=f"uv lock --project {directory}")


def _conflict_item(item: Table) -> tuple[str, str, str]:
    for kind in ("extra", "group"):
        if kind in item:
            return (str(item["package"]), kind, str(item[kind]))
    return (str(item["package"]), "project", "")


def _checked(path: str, table: Table) -> UvLock:
    version = table.get("version")
    if not isinstance(version, int):
        raise LockUnreadable(path, "not a lock of uv's: it has no format version", todo="uv lock")
    if version > _VERSION:
        raise LockTooNew(path, str(version), str(_VERSION))
    try:
        lock = UvLock(path, table)
        for package in lock.packages:
            _check_package(package)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LockUnreadable(path, f"not a lock of uv's ({error})", todo="uv lock") from error
    return lock


def _check_package(package: Table) -> None:
    """Stop at a shape that the walk would stumble over.

    :raises ValueError: saying where.
    """
    if not isinstance(package["name"], str) or not isinstance(package["source"], dict):
        msg = f"package {package['name']!r} has no source"
        raise TypeError(msg)
    lists = [package.get("dependencies", [])]
    for key in ("optional-dependencies", "dev-dependencies"):
        lists.extend(package.get(key, {}).values())
    for dependencies in lists:
        for dependency in dependencies:
            if not isinstance(dependency["name"], str):
                msg = f"a dependency of {package['name']} has no name"
                raise TypeError(msg)
