"""Tell on which file system a path stands, for messages and for what a file system cannot do."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

__all__ = ["Mount", "mount_of"]

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted file system."""

    point: str
    kind: str
    """``ext4``, ``nfs4``, ``overlay`` …; ``unknown`` where the system does not say."""
    options: tuple[str, ...] = ()


def mount_of(path: str) -> Mount:
    """Return the mount on which ``path`` stands, by the longest mount point above it (proc(5))."""
    real = os.path.realpath(path)
    best = Mount(point="/", kind="unknown")
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
    except OSError:
        return best
    for line in lines:
        mount = _parsed(line)
        inside = mount is not None and (real + "/").startswith(mount.point.rstrip("/") + "/")
        if mount is not None and inside and len(mount.point) >= len(best.point):
            best = mount  # a later line of the same point covers the earlier one
    return best


def _parsed(line: str) -> Mount | None:
    before, dash, after = line.partition(" - ")
    fields, rest = before.split(), after.split()
    if not dash or len(fields) < 6 or not rest:
        return None
    point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
    options = (*fields[5].split(","), *(rest[2].split(",") if len(rest) > 2 else ()))
    return Mount(point=point, kind=rest[0], options=options)
