"""Move directories into place, exchange them, and take them away, each in one step.

Nothing that a crash leaves behind counts as an environment: what stands at an environment's path
without a record is a leftover, what is to be removed goes to the trash first.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from contextlib import suppress
from secrets import token_hex

from greenroom.errors import StoreFailed
from greenroom.store import finishing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.store.layout import Store

__all__ = ["clear_leftovers", "discard", "empty_trash", "exchange", "into_place", "remove", "to_trash"]

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def into_place(store: Store, private: str, key: str) -> str:
    """Move a private directory to its environment's path; a leftover there goes to the trash.

    To be called under the key's lock, when no record stands there.

    :returns: the environment's path.
    :raises StoreFailed: the operating system refuses.
    """
    final = store.environment(key)
    if private == final:
        return final
    try:
        discard(store, final)
        os.rename(private, final)
    except OSError as error:
        raise StoreFailed.of("move the environment into place", final, error) from error
    return final


def exchange(one: str, other: str) -> None:
    """Exchange two directories of one file system.

    With Linux' ``renameat2`` at once; elsewhere (macOS, NFS) by three renames, between which the
    path names nothing for a moment.

    :raises StoreFailed: the operating system refuses; both stand where they stood.
    """
    try:
        for path in (one, other):  # whoever is not root may move only what he may write to
            os.chmod(path, 0o755)  # noqa: S103 - for reading and entering
        if not _exchanged(one, other):
            aside = f"{other}.{token_hex(6)}"
            os.rename(one, aside)
            try:
                os.rename(other, one)
            except OSError:
                os.rename(aside, one)
                raise
            os.rename(aside, other)
    except OSError as error:
        raise StoreFailed.of("exchange the environment", one, error) from error


def to_trash(store: Store, path: str) -> str:
    """Move a directory into the trash: from then on it is nothing that counts.

    :returns: its path there.
    :raises OSError: the operating system refuses.
    """
    target = f"{store.trash}/{os.path.basename(path)}.{token_hex(6)}"
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
    os.rename(path, target)
    return target


def discard(store: Store, path: str) -> None:
    """Remove a directory by way of the trash; nothing happens when there is none.

    :raises StoreFailed: the operating system refuses.
    """
    try:
        trashed = to_trash(store, path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreFailed.of("remove", path, error) from error
    remove(trashed)


def empty_trash(store: Store) -> None:
    """Remove what earlier removals left in the trash.

    :raises StoreFailed: the operating system refuses.
    """
    with suppress(FileNotFoundError):
        for name in os.listdir(store.trash):
            remove(f"{store.trash}/{name}")


def clear_leftovers(store: Store, key: str) -> None:
    """Remove private directories of builds of ``key`` that died. To be called under the key's lock.

    :raises StoreFailed: the operating system refuses.
    """
    with suppress(FileNotFoundError):
        for name in os.listdir(store.building):
            if name.startswith(f"{key}."):
                discard(store, f"{store.building}/{name}")


def _exchanged(one: str, other: str) -> bool:
    """Exchange at once; False where the system or file system cannot."""
    if sys.platform != "linux":
        return False
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    done = function(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), one)


def remove(path: str) -> None:
    """Remove a file or directory, read-only folders included; nothing happens when it is gone.

    :raises StoreFailed: the operating system refuses.
    """
    try:
        if not os.path.isdir(path) or os.path.islink(path):
            os.unlink(path)
            return
        finishing.restore(path)
        shutil.rmtree(path)
    except FileNotFoundError:
        return  # another collection was faster
    except OSError as error:
        raise StoreFailed.of("remove", error.filename or path, error) from error
