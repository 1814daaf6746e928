"""Give names that are never shared by accident: to servers that are found, and to lock files."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["lock_names", "suffixes"]

_LONGEST = 100
"""Characters of a lock's name: file systems take 255 bytes for a file's."""


def suffixes(paths: Sequence[str], root: str, taken: Collection[str] = ()) -> dict[str, str]:
    """Return a name for each directory: the shortest end of its path that no other one has.

    :param paths: absolute, different paths.
    :param root: what a path below it is shortened by; it takes no part in a name.
    :param taken: names that others have already.
    """
    parts = {path: _parts(path, root) for path in paths}
    ends: dict[tuple[str, ...], int] = {}
    for names in parts.values():
        for length in range(1, len(names) + 1):
            ends[names[-length:]] = ends.get(names[-length:], 0) + 1
    found = {}
    for path, names in parts.items():
        own = (names[-length:] for length in range(1, len(names) + 1))
        unique = (end for end in own if ends[end] == 1 and "/".join(end) not in taken)
        found[path] = "/".join(next(unique, names))
    return found


def _parts(path: str, root: str) -> tuple[str, ...]:
    relative = os.path.relpath(path, root)
    inside = relative != os.pardir and not relative.startswith(os.pardir + os.sep)
    chosen = relative if inside and relative != os.curdir else path
    return tuple(part for part in chosen.split(os.sep) if part)


def lock_names(names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the ``<name>`` of ``pylock.<name>.toml`` for each kind and name (PEP 751: without a dot).

    Names that would be the same file, also where letters' case does not count, get a digest added.

    :param names: pairs of a kind (``actor``, ``server``, ``environment``) and a name, all different.
    """
    plain = {key: re.sub(r"[^A-Za-z0-9_-]", "-", key[1]) for key in names}
    seen: dict[str, int] = {}
    for name in plain.values():
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
    return {
        key: name
        if seen[name.lower()] == 1 and len(name) <= _LONGEST
        else f"{name[:_LONGEST]}-{_digest(key)}"
        for key, name in plain.items()
    }


def _digest(key: tuple[str, str]) -> str:
    return sha256("\0".join(key).encode("utf-8", "surrogateescape")).hexdigest()[:8]
