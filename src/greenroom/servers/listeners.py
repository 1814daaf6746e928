"""Whose socket listens on a port: a stranger's answer must not make a server ready (Linux)."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["listening", "owned"]

_LISTEN = "0A"
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def listening(port: int) -> frozenset[str] | None:
    """Return the inodes of the sockets that listen on a port; None where nobody can tell."""
    wanted = f":{port:04X}"
    found = set()
    seen = False
    for table in _TABLES:
        with suppress(OSError), open(table, encoding="ascii") as stream:
            seen = True
            for line in stream:
                fields = line.split()
                if len(fields) > 9 and fields[3] == _LISTEN and fields[1].endswith(wanted):
                    found.add(fields[9])
    return frozenset(found) if seen else None


def owned(port: int, pids: Iterable[int]) -> bool | None:
    """Tell whether one of these processes listens on a port.

    :returns: None where it cannot be told: another system, or processes of another user.
    """
    if sys.platform != "linux":
        return None
    inodes = listening(port)
    if inodes is None:
        return None
    names = {f"socket:[{inode}]" for inode in inodes}
    unseen = False
    for pid in pids:
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except PermissionError:
            unseen = True
            continue
        except OSError:
            continue
        for descriptor in descriptors:
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{descriptor}") in names:
                    return True
    return None if unseen else False
