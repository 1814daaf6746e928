"""Which processes belong to a server: its descendants, and those that lost their parents.

Linux tells by ``/proc``. A process that leaves its session and outlives its parent is adopted by the
guardian (a subreaper); it is known by its session, or by the mark in its variables. Elsewhere only the
process group of the first process counts.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

__all__ = ["adopt", "born", "children", "descendants", "end", "ended", "group", "marked", "session"]

MARK = "GREENROOM_SERVER"
"""The variable that every process of a server carries."""

_PATIENCE = 5000
"""Looks, each a few microseconds: an exec takes about a millisecond."""
_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of prctl(2)."""


def adopt() -> bool:
    """Become the parent of every orphan below this process.

    :returns: whether the system can do so.
    """
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 - nothing else needs it

    return bool(ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0) == 0)


def children(pid: int) -> list[int]:
    """Return the children of a process, ended ones that nobody reaped included."""
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        with suppress(OSError, ValueError), open(f"/proc/{pid}/task/{task}/children", "rb") as stream:
            found += map(int, stream.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """Return all processes below one, nearer ones first, without itself."""
    found: list[int] = []
    row = [pid]
    while row:
        row = [child for parent in row for child in children(parent)]
        found += row
    return found


def born(pid: int) -> int | None:
    """Return when a process started, in ticks since boot: with the number it names one process for ever.

    :returns: None when it is gone, or nobody can tell.
    """
    fields = _stat(pid)
    return int(fields[19]) if fields is not None else None


def session(pid: int) -> int | None:
    """Return the session that a process is in; None when it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def group(pid: int) -> int | None:
    """Return the process group that a process is in; None when it is gone."""
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def ended(pid: int) -> bool:
    """Tell whether a process is gone, or a zombie."""
    fields = _stat(pid)
    return fields is None or fields[0] in {"Z", "X"}


def marked(pid: int) -> str | None:
    """Return the mark that a process carries; None when it has none or cannot be asked."""
    for _ in range(_PATIENCE):
        try:
            with open(f"/proc/{pid}/environ", "rb") as stream:
                data = stream.read()
        except OSError:
            return None
        if data or ended(pid):
            break
        os.sched_yield()  # amid an exec the variables are not there yet
    for entry in data.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name == MARK.encode():
            return value.decode(errors="replace")
    return None


def end(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to exactly the process that has this number now."""
    with suppress(OSError):
        if sys.platform == "linux":
            handle = os.pidfd_open(pid)
            try:
                signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)
        else:
            os.kill(pid, number)


def _stat(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return None
