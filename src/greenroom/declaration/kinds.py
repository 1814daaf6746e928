"""The kinds of values that a declaration holds: one description for the check and for the schema.

Each kind reads a raw value into a clean one (wrong parts are noted and left out, so that the rest of
a declaration can still be checked) and writes itself as JSON schema (draft 2020-12).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Flag", "Kind", "No", "Notes", "Number", "Text", "Word", "refused_type"]

Path = tuple[str | int, ...]
"""Where a value stands in the document: keys and positions in arrays."""
WRONG = object()
"""What reading a value that is wrong as a whole gives."""


class Notes(Protocol):
    """What is told each problem."""

    def wrong_type(self, path: Path, expected: str, found: str) -> None:
        """Note a value of another type."""

    def unknown_key(self, path: Path, key: str, known: Iterable[str]) -> None:
        """Note a key that means nothing in its table."""

    def refused(self, path: Path, what: str, todo: str) -> None:
        """Note a value of the right type that cannot work."""


class Kind(Protocol):
    """A kind of value."""

    @property
    def what(self) -> str:
        """Say the kind in words, with its article."""

    def fits(self, value: object) -> bool:
        """Return whether a value is of this kind, seen from outside."""

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the clean value, or ``WRONG``."""

    def schema(self) -> dict[str, Any]:
        """Return the kind as JSON schema."""


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    names: dict[type, str] = {int: "an integer", float: "a number", str: "a string"}
    names |= {list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


def refused_type(kind: Kind, value: object, path: Path, notes: Notes) -> bool:
    """Note a value that does not fit its kind; return whether it did not."""
    if kind.fits(value):
        return False
    notes.wrong_type(path, kind.what, _type_of(value))
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A string; ``pattern`` must match all of it, ``form`` says so in words."""

    what: str = "a string"
    pattern: str | None = None
    form: str = ""
    empty: bool = False

    def fits(self, value: object) -> bool:
        """Return whether it is a string."""
        return isinstance(value, str)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the string when it has the form."""
        if refused_type(self, value, path, notes):
            return WRONG
        text = str(value)
        if "\0" in text:
            notes.refused(path, "a NUL character stands in the string", "take it out")
        elif not text and not self.empty:
            notes.refused(path, "the string is empty", f"give {self.form or self.what}")
        elif self.pattern is not None and not re.fullmatch(self.pattern, text):
            notes.refused(path, f"{text!r} cannot be {self.what}", f"write {self.form}")
        else:
            return text
        return WRONG

    def schema(self) -> dict[str, Any]:
        """Return a string's schema."""
        schema: dict[str, Any] = {"type": "string"} if self.empty else {"type": "string", "minLength": 1}
        return schema | ({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One of a few words; ``refused`` holds others with the reason why they cannot work."""

    words: tuple[str, ...]
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def what(self) -> str:
        """Say the words."""
        return f"one of {', '.join(self.words)}"

    def fits(self, value: object) -> bool:
        """Return whether it is a string."""
        return isinstance(value, str)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the word."""
        if refused_type(self, value, path, notes):
            return WRONG
        if value in self.words:
            return value
        reason = dict(self.refused).get(str(value))
        notes.refused(path, reason or f"{value!r} is not known here", f"use {self.what}")
        return WRONG

    def schema(self) -> dict[str, Any]:
        """Return an enumeration."""
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """True or false."""

    what: str = "true or false"

    def fits(self, value: object) -> bool:
        """Return whether it is a boolean."""
        return isinstance(value, bool)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the boolean."""
        return WRONG if refused_type(self, value, path, notes) else value

    def schema(self) -> dict[str, Any]:
        """Return a boolean's schema."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class No:
    """The value ``false`` alone."""

    what: str = "false"

    def fits(self, value: object) -> bool:
        """Return whether it is false."""
        return value is False

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return false."""
        return WRONG if refused_type(self, value, path, notes) else value

    def schema(self) -> dict[str, Any]:
        """Return a constant."""
        return {"const": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number within bounds, both included; ``whole`` admits integers only."""

    least: int
    most: int
    whole: bool = True

    @property
    def what(self) -> str:
        """Say the bounds."""
        return f"{'an integer' if self.whole else 'a number'} from {self.least} to {self.most}"

    def fits(self, value: object) -> bool:
        """Return whether it is such a number; a boolean is none."""
        kinds = (int,) if self.whole else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)

    def read(self, value: object, path: Path, notes: Notes) -> Any:
        """Return the number when it is within the bounds."""
        if refused_type(self, value, path, notes):
            return WRONG
        if isinstance(value, int | float) and self.least <= value <= self.most:
            return value
        notes.refused(path, "the number is out of bounds", f"give {self.what}")
        return WRONG

    def schema(self) -> dict[str, Any]:
        """Return a number's schema."""
        return {
            "type": "integer" if self.whole else "number",
            "minimum": self.least,
            "maximum": self.most,
        }
