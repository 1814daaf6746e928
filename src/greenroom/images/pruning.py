"""Remove from a store what no environment needs at run time, before a layer is closed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import LockBusy
from greenroom.store import locking, moving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.store.layout import Store

__all__ = ["Pruned", "prune"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was removed."""

    files: int
    size: int
    """Bytes that this frees in the layer: links that environments share do not count."""


def prune(store: Store) -> Pruned:
    """Remove built wheels, what ended builds left, and bytecode that no environment links.

    Bytecode that environments link stays: it costs no space, and ``verify --deep`` compares with it.

    :raises LockBusy: a build runs in the store.
    :raises StoreFailed: the operating system refuses.
    """
    files = size = 0
    with locking.alone(store.locks) as free:
        if not free:
            raise LockBusy(store.locks, "a build")
        for folder in (store.wheels, store.building, store.trash):
            for entry in _entries(folder):
                count, freed = _amount(entry.path)
                files, size = files + count, size + freed
                moving.remove(entry.path)
        for path, freed in _unlinked(store.bytecode):
            files, size = files + 1, size + freed
            os.unlink(path)
    return Pruned(files=files, size=size)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _amount(path: str) -> tuple[int, int]:
    if not os.path.isdir(path) or os.path.islink(path):
        return 1, os.lstat(path).st_size
    sizes = [
        os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names
    ]
    return len(sizes), sum(sizes)


def _unlinked(folder: str) -> Iterator[tuple[str, int]]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            status = os.lstat(path)
            if status.st_nlink == 1 and name.endswith(".pyc"):
                yield path, status.st_size
