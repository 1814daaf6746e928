"""Collect the problems of one reading, each with its file, line and key."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from greenroom import errors
from greenroom.actor_environments import SPEC_KEYS
from greenroom.components import Origin
from greenroom.declaration import lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.actor_environments import Fault, Raw
    from greenroom.declaration.kinds import Path

__all__ = ["Report", "error_of", "say"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NAMED_TABLES = ("servers", "environments", "stages")


def say(path: Path) -> str:
    """Return a path in the words of a declaration: ``[servers.math] ready``, ``[actors] "app.A"[1]``."""
    if len(path) < 2:
        return "".join(map(str, path))
    if isinstance(path[1], int):
        table, rest = str(path[0]), path[1:]
    elif path[0] in _NAMED_TABLES:
        table, rest = f"[{path[0]}.{_key(path[1])}]", path[2:]
    else:
        table, rest = f"[{path[0]}]", path[1:]
    words = table if isinstance(path[1], int) else ""
    for part in rest:
        words += f"[{part}]" if isinstance(part, int) else f"{'.' if words else ''}{_key(part)}"
    return words if isinstance(path[1], int) else f"{table} {words}".rstrip()


def _key(part: str | int) -> str:
    text = str(part)
    return text if _BARE.fullmatch(text) else f'"{text}"'


class Report:
    """Is told each problem of a declaration while it is read."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.errors: list[errors.GreenroomError] = []
        self.places: dict[Path, Origin] = {}
        """Paths that stand in another file than the declaration's: a registry's actors."""
        self.aliases: dict[Path, Path] = {}
        """Actors whose names nest: the path of the name -> the path in the document."""
        self.short: set[Path] = set()
        """Paths of lists that stand for a table with ``extras`` alone."""
        self._spoiled: set[Path] = set()
        self._lines = lines.find(raw.text)

    def origin(self, path: Path) -> Origin:
        """Return where a path stands."""
        if "extras" in path:
            path = tuple(p for at, p in enumerate(path) if p != "extras" or path[:at] not in self.short)
        for length in range(len(path), 1, -1) if self.places else ():
            if path[:length] in self.places:
                return self.places[path[:length]]
        written = (*self.aliases[path[:2]], *path[2:]) if path[:2] in self.aliases else path
        line = lines.line_of(self._lines, (*self.raw.prefix, *written))
        return Origin(file=self.raw.file, line=line, key=say(path))

    def where(self, path: Path) -> str:
        """Return the place of a path for an error's first words."""
        return str(self.origin(path))

    def spoiled(self, path: Path) -> bool:
        """Return whether a value at or below a path is wrong, so that what it lacks says nothing."""
        return path in self._spoiled

    def _spoil(self, path: Path) -> None:
        self._spoiled.update(path[:length] for length in range(1, len(path) + 1))

    def add(self, error: errors.GreenroomError) -> None:
        """Note a problem."""
        self.errors.append(error)

    def in_order(self) -> tuple[errors.GreenroomError, ...]:
        """Return each problem once: the declaration's own by line, then those of other files."""
        different = {str(error): error for error in self.errors}
        return tuple(sorted(different.values(), key=self._line))

    def _line(self, error: errors.GreenroomError) -> int:
        place = (error.where or "").removeprefix(f"{self.raw.file}:").partition(" ")[0]
        return int(place) if place.isdigit() else sys.maxsize

    def wrong_type(self, path: Path, expected: str, found: str) -> None:
        """Note a value of another type."""
        self._spoil(path)
        self.add(errors.WrongType(expected, found, where=self.where(path)))

    def unknown_key(self, path: Path, key: str, known: Iterable[str]) -> None:
        """Note a key that means nothing in its table."""
        self._spoil(path)
        self.add(errors.UnknownKey(key, known=known, where=self.where(path)))

    def refused(self, path: Path, what: str, todo: str) -> None:
        """Note a value of the right type that cannot work."""
        self._spoil(path)
        self.add(errors.RefusedValue(what, where=self.where(path), todo=todo))

    def conflict(self, path: Path, what: str, todo: str) -> None:
        """Note keys that exclude each other."""
        self.add(errors.ConflictingKeys(what, where=self.where(path), todo=todo))

    def fault(self, fault: Fault) -> None:
        """Note what was wrong with a file or with the table of actors."""
        if fault.path and fault.file == self.raw.file:
            origin = self.origin(fault.path[len(self.raw.prefix) :])
            self.add(error_of(fault, str(origin)))
        else:
            self.add(error_of(fault))


def error_of(fault: Fault, where: str | None = None) -> errors.DeclarationError:
    """Return the error that a fault of the low reader is.

    :param where: the place, when it is known better than by the fault itself.
    """
    where = where or (f"{fault.file}:{fault.line}" if fault.line else fault.file)
    if fault.kind == "key":
        return errors.UnknownKey(fault.name, known=sorted(SPEC_KEYS), where=where)
    if fault.kind == "duplicate":
        return errors.DuplicateName(
            "actor", fault.name, where=where, first=fault.todo.removeprefix("first at ")
        )
    kinds = {
        "unreadable": errors.UnreadableDeclaration,
        "literal": errors.NotLiteral,
        "ambiguous": errors.AmbiguousName,
    }
    return kinds.get(fault.kind, errors.RefusedValue)(fault.what, where=where, todo=fault.todo or None)
