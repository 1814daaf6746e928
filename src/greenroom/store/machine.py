"""Tell whether an environment that was built elsewhere, or earlier, can run on this machine."""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.store.model import Record

__all__ = ["base_changed", "blocked", "foreign", "libc_needed", "libc_version", "this_host", "this_machine"]

_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_")
_OLD_NAMES = {"manylinux1_": (2, 5), "manylinux2010_": (2, 12), "manylinux2014_": (2, 17)}
"""PEP 600: the older tags as versions of glibc."""


def this_machine() -> str:
    """Return system, machine type and C library's family: ``linux-x86_64-glibc``, ``darwin-arm64``."""
    name = f"{sys.platform}-{os.uname().machine}"
    if sys.platform != "linux":
        return name
    return f"{name}-{'glibc' if libc_version() else 'musl'}"


def this_host() -> str:
    """Return this host's name, as records and roots hold it."""
    return os.uname().nodename


def libc_version() -> tuple[int, int] | None:
    """Return the version of glibc that this process runs on, None where it is another library."""
    try:
        words = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
    except (OSError, ValueError):
        return None
    return _version(words[1]) if len(words) == 2 and words[0] == "glibc" else None


def libc_needed(tags: Iterable[str]) -> tuple[int, int] | None:
    """Return the lowest glibc that a wheel needs, by its tags; None: any, or not said.

    A wheel with several tags claims that each holds, so the oldest counts (PEP 600).

    :param tags: tags or a wheel's file name.
    """
    claims = []
    for tag in tags:
        claims += [(int(major), int(minor)) for major, minor in _GLIBC.findall(tag)]
        claims += [version for name, version in _OLD_NAMES.items() if name in tag]
    return min(claims, default=None)


def foreign(record: Record) -> str:
    """Say why an environment cannot run here, empty when it can: machine type, system or C library."""
    if record.machine and record.machine != this_machine():
        return f"built for {record.machine}, this machine is {this_machine()}"
    ours = libc_version()
    if record.libc and ours is not None and _version(record.libc) > ours:
        return f"its binaries need glibc {record.libc}, this machine has {ours[0]}.{ours[1]}"
    return ""


def base_changed(record: Record) -> str:
    """Say what became of the base interpreter, empty when it is the one of the build: one stat.

    Inode, size and time tell on the host of the build only. The nodes that share a store have
    interpreters of their own there, whose path and version are in the key: they only have to exist.
    """
    path, *known = record.base
    try:
        found = os.stat(path)
    except PermissionError:
        return (
            f"this user cannot reach the base interpreter {path}: {blocked(path) or path} is closed to others"
        )
    except OSError:
        return f"the base interpreter {path} vanished"
    if record.host != this_host() or [found.st_ino, found.st_size, found.st_mtime_ns] == known:
        return ""
    return f"the base interpreter {path} was replaced since the build"


def blocked(path: str) -> str | None:
    """Return the first directory above a path that other users cannot enter, None when all can.

    An interpreter below a private home works for whoever built an environment and for nobody else.
    """
    parts = os.path.dirname(os.path.abspath(path)).split("/")
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count]) or "/"
        try:
            if not os.stat(folder).st_mode & 0o001:
                return folder
        except OSError:
            return folder
    return None


def _version(text: str) -> tuple[int, int]:
    numbers = re.findall(r"\d+", text)
    return (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else (0, 0)
