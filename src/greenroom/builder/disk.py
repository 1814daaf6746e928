"""Recognise a disk, its inodes or a quota that is used up, and say so with path and number."""

from __future__ import annotations

import errno
import os

__all__ = ["is_full", "room", "size_text"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_full(error: BaseException | None) -> bool:
    """Tell whether an error, or what it came from, is the operating system's «no space»."""
    seen = 0
    while error is not None and seen < 16:  # a chain of causes may be a loop
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def room(path: str) -> str:
    """Return in words what is left where ``path`` is: bytes and inodes.

    :param path: need not exist: the nearest directory above counts.
    """
    place = path
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    try:
        found = os.statvfs(place)
    except OSError:
        return f"no space is left for {path}"
    free = found.f_bavail * found.f_frsize
    # File systems without a table of inodes (btrfs) say 0 of 0.
    what = "inode" if found.f_files and not found.f_favail else "space"
    return f"no {what} is left for {path} ({size_text(free)} free)"


def size_text(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit in {"bytes", "kB"} else f"{count:.1f} {unit}"
        count /= 1000
    return ""
