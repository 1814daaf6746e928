"""Hold a record for as long as a process runs: the shared lock that keeps collection away.

On the start-up path of what is launched, so it imports little.
"""

from __future__ import annotations

import fcntl
import os

from greenroom.errors import EnvironmentGone

__all__ = ["lease"]


def lease(path: str) -> int:
    """Say «in use» by a shared lock on a record; exec inherits it, the process's end ends it.

    It needs no write access. Where locks are not supported, it is an open file without a lock:
    launching never fails for that.

    :param path: the environment's record.
    :returns: an inheritable descriptor.
    :raises EnvironmentGone: there is no record, or it is being removed or replaced.
    """
    gone = EnvironmentGone(os.path.dirname(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise gone from error
    if not _leased(path, descriptor):
        os.close(descriptor)
        raise gone
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - positional only
    return descriptor


def _leased(path: str, descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # collection or repair holds it
        return False
    except OSError:
        return True
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
