"""Find out who uses an environment: leases on its record, and processes that name its path."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.store.layout import Store

__all__ = ["processes", "unleased"]

_PLACES = ("environ", "cmdline", "maps")
"""Variables (PATH, VIRTUAL_ENV), arguments, and extension modules. The running program itself is
the base interpreter and says nothing."""


@contextmanager
def unleased(path: str) -> Iterator[bool]:
    """Try to hold a record alone: True while nobody runs by it and nobody can begin to.

    Where locks are not supported, or no record is there, nobody holds a lease.

    :param path: the environment's record.
    """
    descriptor = _open(path)
    if descriptor < 0:
        yield True
        return
    try:
        yield _alone(descriptor)
    finally:
        os.close(descriptor)


def processes(store: Store) -> dict[str, tuple[str, ...]]:
    """Return key -> processes of this machine that name the environment, in words.

    Others' processes are only visible to root. Empty where there is no ``/proc``.
    """
    names = {store.path, os.path.realpath(store.path)}
    paths = b"|".join(re.escape(os.fsencode(name)) for name in sorted(names))
    pattern = re.compile(rb"(?:" + paths + rb")/([a-z0-9_]+-[a-z0-9]{24})(?![a-z0-9])")
    found: dict[str, tuple[str, ...]] = {}
    for pid in _pids():
        keys = {key.decode() for place in _PLACES for key in pattern.findall(_read(f"/proc/{pid}/{place}"))}
        for key in sorted(keys):
            name = _read(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()
            found[key] = (*found.get(key, ()), f"{name} (process {pid})")
    return found


def _open(path: str) -> int:
    for mode in (os.O_RDWR, os.O_RDONLY):  # NFS locks alone only what is open for writing
        try:
            return os.open(path, mode | os.O_CLOEXEC)
        except OSError:
            continue
    return -1


def _alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # without locks nobody holds a lease either
    return True


def _pids() -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
