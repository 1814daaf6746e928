"""Lock keys for building and records for running, across threads, processes and hosts.

A lock is a ``flock`` on an open file: it belongs to the descriptor, is inherited by uv, and ends when
the last copy of the descriptor is closed, whatever ends its holder. So a descriptor is closed and
never unlocked: unlocking would free the lock while a child of a killed builder still installs.
Lock files are never removed: a removed one would let two builders hold «the» lock. Nobody polls.

On NFS, Linux turns ``flock`` into a byte-range lock on the server, which needs the file to be open for
writing; mounts that keep locks local are refused, because their hosts would not exclude one another.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from greenroom.errors import InterruptedRunError, LockBusy, LocksUnsupported, StoreFailed
from greenroom.store.mounts import Mount, mount_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

__all__ = ["Holder", "KeyLock", "alone", "held", "hold", "key_alone"]

COLLECTION = "collection.lock"
"""Shared by every holder of a key's lock, held alone by what removes shared files."""
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}
_LOCAL_ONLY = {"nolock", "local_lock=all", "local_lock=flock", "localflock"}
"""Mount options of NFS and Lustre with which ``flock`` excludes only within one host."""
_tested: set[int] = set()
"""Devices whose locks were seen to exclude."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lock, as the lock file says."""

    host: str = ""
    pid: int = 0
    what: str = ""

    def __str__(self) -> str:
        """Return words for a message."""
        if not self.pid:
            return "another process"
        what = f" ({self.what})" if self.what else ""
        return f"process {self.pid} on {self.host}{what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLock:
    """A held lock."""

    path: str
    fd: int
    """To be inherited by children that work under the lock (``pass_fds``)."""


@contextmanager
def hold(
    path: str,
    what: str = "",
    *,
    on_wait: Callable[[Holder], None] | None = None,
    cancelled: Event | None = None,
    wait: bool = True,
) -> Iterator[KeyLock]:
    """Hold the lock of a key; wait for it when another one holds it.

    The wait ends as soon as the holder does. It blocks in the kernel: on the main thread Ctrl-C
    ends it, on others ``cancelled`` is looked at as soon as the lock is had.

    :param path: ``store.lock(key)``; its directory exists.
    :param what: what the lock is held for, told to those who wait.
    :param on_wait: called once with the holder before waiting.
    :param cancelled: when set, the lock is given back and the run counts as interrupted.
    :param wait: False raises instead of waiting.
    :raises LockBusy: it is held, and ``wait`` is False.
    :raises LocksUnsupported: the file system's locks fail or do not exclude.
    :raises StoreFailed: the lock file cannot be opened.
    :raises InterruptedRunError: ``cancelled`` was set.
    """
    shared = _acquire(os.path.join(os.path.dirname(path), COLLECTION), fcntl.LOCK_SH, on_wait, wait=wait)
    try:
        descriptor = _acquire(path, fcntl.LOCK_EX, on_wait, wait=wait)
        try:
            _check(cancelled, path)
            _prove_exclusion(path, descriptor)
            _say_holder(descriptor, Holder(host=socket.gethostname(), pid=os.getpid(), what=what))
            yield KeyLock(path=path, fd=descriptor)
        finally:
            os.close(descriptor)  # never LOCK_UN: a child may still work under it
    finally:
        os.close(shared)


@contextmanager
def alone(locks: str) -> Iterator[bool]:
    """Try to be the only one: True while no build runs in the store and none can begin.

    :param locks: ``store.locks``.
    :raises LocksUnsupported: as :func:`hold`.
    :raises StoreFailed: the lock file cannot be opened.
    """
    try:
        descriptor = _acquire(os.path.join(locks, COLLECTION), fcntl.LOCK_EX, None, wait=False)
    except LockBusy:
        yield False
        return
    try:
        _say_holder(descriptor, Holder(host=socket.gethostname(), pid=os.getpid(), what="collection"))
        yield True
    finally:
        os.close(descriptor)


@contextmanager
def key_alone(path: str) -> Iterator[bool]:
    """Try to hold a key's lock for its removal: True when nobody builds it and nobody can begin.

    :param path: ``store.lock(key)``.
    :raises LocksUnsupported: as :func:`hold`.
    :raises StoreFailed: the lock file cannot be opened.
    """
    try:
        descriptor = _acquire(path, fcntl.LOCK_EX, None, wait=False)
    except LockBusy:
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)


def held(path: str) -> Holder | None:
    """Return who holds the lock now, None when nobody does. The answer is old when it arrives.

    :raises LocksUnsupported: as :func:`hold`.
    :raises StoreFailed: the lock file cannot be opened.
    """
    if not os.path.lexists(path):
        return None
    try:
        os.close(_acquire(path, fcntl.LOCK_EX, None, wait=False))
    except LockBusy:
        return _holder(path)
    return None


def _acquire(path: str, operation: int, on_wait: Callable[[Holder], None] | None, *, wait: bool) -> int:
    """Return a locked descriptor of the file that stands at ``path`` now."""
    while True:
        descriptor = _open(path)
        try:
            locked = _lock(descriptor, operation | fcntl.LOCK_NB, path)
            if not locked and wait:
                if on_wait is not None:
                    on_wait(_holder(path))
                locked = _lock(descriptor, operation, path)
            if locked and _is_at(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not locked:
            raise LockBusy(path, str(_holder(path)))
        # else: somebody removed the lock file by hand meanwhile, the one that stands there counts


def _open(path: str) -> int:
    """Open a lock file for reading and writing; make it when it is not there.

    Who may create files in the directory may lock: in a store that a group shares, the umask of
    whoever came first does not lock the others out. Opening comes before creating, because the
    kernel refuses to create over another user's file in a sticky directory.
    """
    try:
        while True:
            try:
                return os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                pass
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            except FileExistsError:
                continue
            shared = os.stat(os.path.dirname(path)).st_mode & 0o666
            os.fchmod(descriptor, 0o600 | shared)
            return descriptor
    except OSError as error:
        raise StoreFailed.of("open the lock", path, error) from error


def _lock(descriptor: int, operation: int, path: str) -> bool:
    try:
        fcntl.flock(descriptor, operation)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise _unsupported(path, f"flock: {error.strerror}") from error
        raise StoreFailed.of("lock", path, error) from error
    return True


def _prove_exclusion(path: str, descriptor: int) -> None:
    """Raise when a second opening of the file that is locked can be locked too; once per device."""
    device = os.fstat(descriptor).st_dev
    if device in _tested:
        return
    mount = mount_of(path)
    local = sorted(_LOCAL_ONLY.intersection(mount.options))
    if local:
        raise _unsupported(path, f"mounted with {local[0]}, locks exclude only within one host", mount)
    second = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        excluded = not _lock(second, fcntl.LOCK_EX | fcntl.LOCK_NB, path)
    finally:
        os.close(second)
    if not excluded:
        raise _unsupported(path, "a file can be locked twice", mount)
    _tested.add(device)


def _check(cancelled: Event | None, path: str) -> None:
    if cancelled is not None and cancelled.is_set():
        raise InterruptedRunError("stopped while waiting for a lock", where=path)


def _unsupported(path: str, reason: str, mount: Mount | None = None) -> LocksUnsupported:
    mount = mount or mount_of(path)
    return LocksUnsupported(path, filesystem=mount.kind, mount=mount.point, reason=reason)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        there = os.stat(path)
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def _say_holder(descriptor: int, holder: Holder) -> None:
    text = json.dumps(asdict(holder)).encode()
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text, 0)
    except OSError:  # a full disk: the lock holds all the same
        return


def _holder(path: str) -> Holder:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(4096))
        return Holder(host=str(found["host"]), pid=int(found["pid"]), what=str(found["what"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Holder()
