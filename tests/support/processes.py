"""Find processes that a test left behind, also those that no longer know their parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
from pathlib import Path

__all__ = ["adopt_orphans", "children", "end", "wait_for"]

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every orphan below this process, so that none escapes (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> dict[int, str]:
    """Return this process's children that are not ended yet, with their command lines; reap the rest."""
    if sys.platform != "linux":
        return {}
    found = {}
    for pid in _child_ids():
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text()
            if stat.rpartition(")")[2].split()[0] == "Z":
                # A leader is a zombie while threads of it still end, and hold its files and locks.
                ended, _ = os.waitpid(pid, os.WNOHANG)
                if ended:
                    continue
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            found[pid] = line.replace(b"\0", b" ").decode(errors="replace")
    return found


def _child_ids() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found


def wait_for(pid: int, seconds: float) -> bool:
    """Wait until a child has ended, by event.

    :returns: whether it ended in time.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        ready, _, _ = select.select([handle], [], [], seconds)
        return bool(ready)
    finally:
        os.close(handle)


def end(pid: int) -> None:
    """Kill a child and reap it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
