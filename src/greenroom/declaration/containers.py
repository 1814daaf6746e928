"""The kinds of values that hold others: lists, tables of names, tables of known keys, alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.declaration.kinds import WRONG, Text, refused_type

if TYPE_CHECKING:
    from greenroom.declaration.kinds import Kind, Notes, Path

__all__ = ["Either", "Key", "ListOf", "MapOf", "Table"]

_ANY_NAME = Text()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A list of one kind; wrong as a whole when one item is, so that positions stay true."""

    items: Kind
    what: str = "a list"
    least: int = 0

    def fits(self, value: object) -> bool:
        """Return whether it is a list."""
        return isinstance(value, list)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the list of clean items."""
        if not isinstance(value, list):
            refused_type(self, value, path, notes)
            return WRONG
        if len(value) < self.least:
            notes.refused(path, "the list is empty", f"give {self.what}")
            return WRONG
        found = [self.items.read(item, (*path, at), notes) for at, item in enumerate(value)]
        return WRONG if any(item is WRONG for item in found) else found

    def schema(self) -> dict[str, Any]:
        """Return an array's schema."""
        least = {"minItems": self.least} if self.least else {}
        return {"type": "array", "items": self.items.schema(), **least}


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOf:
    """A table whose keys are names, all of one kind of value."""

    values: Kind
    what: str = "a table"
    names: Text = _ANY_NAME

    def fits(self, value: object) -> bool:
        """Return whether it is a table."""
        return isinstance(value, dict)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the table of clean values."""
        if not isinstance(value, dict):
            refused_type(self, value, path, notes)
            return WRONG
        found = {}
        for name, item in value.items():
            here = (*path, name)
            clean = self.values.read(item, here, notes)
            if clean is not WRONG and self.names.read(name, here, notes) is not WRONG:
                found[name] = clean
        return found

    def schema(self) -> dict[str, Any]:
        """Return an object's schema."""
        schema: dict[str, Any] = {"type": "object", "additionalProperties": self.values.schema()}
        names = self.names.schema()
        return {**schema, "propertyNames": names} if len(names) > 1 else schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a table; ``about`` is one sentence for editors and the guide."""

    name: str
    kind: Kind
    about: str
    needed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of known keys."""

    keys: tuple[Key, ...]
    what: str = "a table"

    def fits(self, value: object) -> bool:
        """Return whether it is a table."""
        return isinstance(value, dict)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the table of clean values, without unknown keys."""
        if not isinstance(value, dict):
            refused_type(self, value, path, notes)
            return WRONG
        kinds = {key.name: key.kind for key in self.keys}
        found = {}
        for name, item in value.items():
            if name not in kinds:
                notes.unknown_key((*path, name), name, kinds)
                continue
            clean = kinds[name].read(item, (*path, name), notes)
            if clean is not WRONG:
                found[name] = clean
        for key in self.keys:
            if key.needed and key.name not in value:
                notes.refused(path, f"the key {key.name!r} is missing", f"give {key.kind.what}")
                return WRONG
        return found

    def schema(self) -> dict[str, Any]:
        """Return an object's schema with its keys described."""
        properties = {key.name: {"description": key.about, **key.kind.schema()} for key in self.keys}
        needed = [key.name for key in self.keys if key.needed]
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": needed} if needed else schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """One of several kinds that differ in their types."""

    kinds: tuple[Kind, ...]

    @property
    def what(self) -> str:
        """Say the kinds."""
        return ", or ".join(kind.what for kind in self.kinds)

    def fits(self, value: object) -> bool:
        """Return whether one of the kinds fits."""
        return any(kind.fits(value) for kind in self.kinds)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return what the kind that fits reads."""
        if refused_type(self, value, path, notes):
            return WRONG
        return next(kind for kind in self.kinds if kind.fits(value)).read(value, path, notes)

    def schema(self) -> dict[str, Any]:
        """Return the alternatives."""
        return {"anyOf": [kind.schema() for kind in self.kinds]}
