"""Count what removing files really frees: hard links count when the last one goes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from stat import S_ISDIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Ledger", "entries", "inodes"]

_BLOCK = 512
"""Bytes: the unit of ``st_blocks``, whatever the file system's own."""
Inode = tuple[int, int]


@dataclass(slots=True)
class Ledger:
    """The files that are to be removed, by inode."""

    seen: dict[Inode, int] = field(default_factory=dict)
    """Links of each inode among them."""
    freed: int = 0
    """Bytes of the inodes all of whose links are among them, and of folders."""

    def add(self, status: os.stat_result) -> None:
        """Count one more file."""
        inode = (status.st_dev, status.st_ino)
        links = self.seen[inode] = self.seen.get(inode, 0) + 1
        if links == status.st_nlink or S_ISDIR(status.st_mode):
            self.freed += status.st_blocks * _BLOCK

    def add_tree(self, path: str) -> None:
        """Count everything below ``path``, and itself."""
        for _, status in entries(path):
            self.add(status)

    def others(self, status: os.stat_result) -> int:
        """Return how many links of a file are not among them."""
        return status.st_nlink - self.seen.get((status.st_dev, status.st_ino), 0)


def inodes(path: str) -> dict[Inode, int]:
    """Return the inodes below ``path`` with the bytes that each occupies."""
    return {(status.st_dev, status.st_ino): status.st_blocks * _BLOCK for _, status in entries(path)}


def entries(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything below ``path``, itself first, without following symbolic links.

    What vanishes meanwhile or cannot be read is left out.
    """
    pending = [path]
    while pending:
        place = pending.pop()
        try:
            status = os.lstat(place)
            if S_ISDIR(status.st_mode):
                pending += [f"{place}/{name}" for name in os.listdir(place)]
        except OSError:
            continue
        yield place, status
