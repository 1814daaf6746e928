"""Find the directories that glob patterns name, and what has to be watched to know when others come."""

from __future__ import annotations

import os
import re
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["matching"]

_MAGIC = re.compile(r"[*?\[]")


def matching(root: str, pattern: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the directories that a pattern names, sorted, and the directories that decide this.

    ``*``, ``?`` and ``[...]`` stay within one part of a path and leave out names that start with a
    dot; ``**`` stands for any number of parts and does not follow links.

    :param root: where a relative pattern starts.
    :returns: absolute normalized paths; the second tuple holds absent ones too.
    :raises OSError: a directory cannot be listed.
    """
    start = os.path.normpath(os.path.join(root, pattern[: _literal_length(pattern)]))
    parts = [part for part in pattern[_literal_length(pattern) :].split("/") if part not in ("", ".")]
    watched: set[str] = set()
    found = set(_walk(start, parts, watched))
    return tuple(sorted(found)), tuple(sorted(watched))


def _literal_length(pattern: str) -> int:
    magic = _MAGIC.search(pattern)
    return pattern.rfind("/", 0, magic.start()) + 1 if magic else len(pattern)


def _walk(directory: str, parts: list[str], watched: set[str]) -> Iterator[str]:
    if not os.path.isdir(directory):
        watched.add(directory)
    elif not parts:
        yield directory
    elif _MAGIC.search(parts[0]) is None:
        yield from _walk(os.path.normpath(os.path.join(directory, parts[0])), parts[1:], watched)
    else:
        watched.add(directory)
        deep = parts[0] == "**"
        name = re.compile(translate("*" if deep else parts[0]))
        hidden = parts[0].startswith(".")
        if deep:
            yield from _walk(directory, parts[1:], watched)
        with os.scandir(directory) as entries:
            inner = [
                e.path for e in entries if e.is_dir(follow_symlinks=not deep) and _named(e.name, name, hidden)
            ]
        for path in sorted(inner):
            yield from _walk(path, parts if deep else parts[1:], watched)


def _named(name: str, pattern: re.Pattern[str], hidden: bool) -> bool:  # noqa: FBT001 - private
    return (hidden or not name.startswith(".")) and pattern.match(name) is not None
