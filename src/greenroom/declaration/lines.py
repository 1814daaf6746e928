"""Find the lines on which the keys of a TOML document stand.

TOML parsers give values without positions, and an error without a line sends its reader searching.
This is no parser: the document has been parsed already, so only what separates its parts is read.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.declaration.kinds import Path

__all__ = ["find", "line_of"]

_STRING = r"""'''[\s\S]*?'{3,5}|\"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}|'[^'\n]*'|"(?:[^"\\\n]|\\.)*\""""
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|'([^'\n]*)'|"((?:[^"\\\n]|\\.)*)")[ \t]*(\.?)""")
_HEADER = re.compile(r"\[\[?")
_PLAIN = re.compile(rf"(?:{_STRING}|[^\[\]{{}},#\n\r\"']+)")
_FLAT = re.compile(r"""\[(?:[^\[\]{}"'#\n]|"[^"\\\n]*"|'[^'\n]*')*\]""")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))")
_LETTERS = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


def find(text: str) -> dict[Path, int]:
    """Return path -> line (1-based) of the tables, keys and array items of a valid document.

    What stands on the line of the key around it has no entry of its own; see :func:`line_of`.

    :param text: a document that a TOML parser has accepted; of another, a part is found.
    """
    return _Finder(text).found


def line_of(lines: dict[Path, int], path: Path) -> int:
    """Return the line of a path, or of the nearest part around it; 0 when none is known."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 0


class _Finder:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: dict[Path, int] = {}
        self.at = 0
        self.line = 1
        self.arrays: dict[Path, int] = {}
        """Arrays of tables with the position of their last element."""
        with suppress(RecursionError):  # too deep for anybody: the lines so far will do
            self._document()

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Move past a match and count its lines."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return False
        self.line += self.text.count("\n", self.at, match.end())
        self.at = match.end()
        return True

    def _next(self, character: str) -> bool:
        """Move past space and one character, when it is the next."""
        self._skip(_SPACE)
        if not self.text.startswith(character, self.at):
            return False
        self.at += 1
        return True

    def _note(self, path: Path) -> None:
        for length in range(len(path), 0, -1):
            if self.found.setdefault(path[:length], self.line) != self.line:
                break

    def _document(self) -> None:
        table: Path = ()
        while self._skip(_SPACE) and self.at < len(self.text):
            header = _HEADER.match(self.text, self.at)
            if header is None:
                if not self._pair(table):
                    return
                continue
            self.at = header.end()
            table = self._table(tuple(self._key()), many=header[0] == "[[")
            self._note(table)
            self.at += len(header[0])

    def _table(self, keys: Path, *, many: bool) -> Path:
        """Return a header's path; within an array of tables it belongs to the last element."""
        path: Path = ()
        for key in keys[:-1] if many else keys:
            path = (*path, key)
            if path in self.arrays:
                path = (*path, self.arrays[path])
        if not many:
            return path
        path = (*path, *keys[-1:])
        self.found.setdefault(path, self.line)
        self.arrays[path] = self.arrays.get(path, -1) + 1
        return (*path, self.arrays[path])

    def _key(self) -> Iterator[str]:
        """Read a key: its parts, each bare or in quotes."""
        while True:
            match = _KEY.match(self.text, self.at)
            if match is None:
                return
            self.at = match.end()
            bare, literal, basic, more = match.groups()
            yield bare if bare is not None else literal if literal is not None else _unescaped(basic)
            if not more:
                return

    def _pair(self, table: Path) -> bool:
        """Read ``key = value``; return whether there was one."""
        path = (*table, *self._key())
        if path == table or not self._next("="):
            return False
        self._note(path)
        self._skip(_SPACE)
        return self._value(path)

    def _value(self, path: Path) -> bool:
        if self._skip(_FLAT) or self._skip(_PLAIN):
            return True
        if self._next("["):
            return self._array(path)
        return self._next("{") and self._inline(path)

    def _array(self, path: Path) -> bool:
        position = 0
        while not self._next("]"):
            if self.line != line_of(self.found, path):
                self.found[(*path, position)] = self.line
            if not self._value((*path, position)):
                return False
            position += 1
            self._next(",")
        return True

    def _inline(self, path: Path) -> bool:
        while not self._next("}"):
            if not self._pair(path):
                return False
            self._next(",")
        return True


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        return chr(int(code, 16)) if code else _LETTERS.get(match[4], match[4])

    return _ESCAPE.sub(character, text)
