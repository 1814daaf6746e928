"""Make an environment the same whatever the umask, read-only in its folders, and durable.

Folders lose their write bits, so that a stray ``pip install`` fails. Files keep the owner's: they
share their inodes with uv's cache and, through it, with the user's own environments, where a mode
changed from here would surprise. Folders and modes are no protection against root.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from stat import S_IMODE

from greenroom.errors import StoreFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["close", "flush", "normalize", "restore"]


def normalize(root: str, *, files: bool = True) -> None:
    """Let everyone read, nobody but the owner write, and make every folder but ``root`` read-only.

    ``root`` itself stays writable for the record; :func:`close` is its turn. A file that belongs to
    somebody else (a link into another user's cache) has to be readable already.

    :param files: False leaves files alone, where the proof saw that all are right: a ``stat`` of each
        costs as much as the proof. They are looked at all the same when ``pyvenv.cfg`` shows an unusual
        umask.
    :raises StoreFailed: a mode cannot be changed.
    """
    try:
        mode = S_IMODE(os.lstat(f"{root}/pyvenv.cfg").st_mode)
        files = files or _wanted(mode) != mode
        with suppress(FileNotFoundError):
            os.unlink(f"{root}/.lock")  # uv leaves it for everybody to write
        for folder in _folders(root):
            if files:
                _open_files(folder)
            wanted = 0o755 if folder == root else 0o555
            if S_IMODE(os.lstat(folder).st_mode) != wanted:  # a change would put it into an image's layer
                os.chmod(folder, wanted)
    except OSError as error:
        raise StoreFailed.of("set modes", error.filename or root, error) from error


def close(root: str) -> None:
    """Make the environment's own folder read-only, after the record is in it.

    :raises StoreFailed: the mode cannot be changed.
    """
    try:
        os.chmod(root, 0o555)  # noqa: S103 - for reading and entering
    except OSError as error:
        raise StoreFailed.of("set modes", root, error) from error


def restore(root: str) -> None:
    """Give the owner's write permission back to every folder, before removal.

    :raises StoreFailed: a mode cannot be changed.
    """
    try:
        for _ in _folders(root, writable=True):
            pass
    except OSError as error:
        raise StoreFailed.of("set modes", error.filename or root, error) from error


def flush(root: str) -> None:
    """Write everything of ``root``'s file system to its disk: once, not for each file.

    It guards against a power failure; a kill needs none.

    :raises StoreFailed: the disk refuses.
    """
    try:
        if sys.platform == "linux":
            _syncfs(root)
        else:
            os.sync()
    except OSError as error:
        raise StoreFailed.of("flush", root, error) from error


def _folders(root: str, *, writable: bool = False) -> Iterator[str]:
    """Yield every folder, each before what is in it; symbolic links are not followed."""
    pending = [root]
    while pending:
        folder = pending.pop()
        if writable:
            os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield folder


def _open_files(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                _regular(entry.path, S_IMODE(entry.stat(follow_symlinks=False).st_mode))


def _wanted(mode: int) -> int:
    return (mode | 0o444 | (0o111 if mode & 0o111 else 0)) & ~0o022


def _regular(path: str, mode: int) -> None:
    if _wanted(mode) == mode:
        return
    try:
        os.chmod(path, _wanted(mode))
    except PermissionError:
        if mode & 0o004:
            return
        raise


def _syncfs(path: str) -> None:
    import ctypes  # noqa: PLC0415 - only when something was built

    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        function = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if function is None:
            os.sync()
        elif function(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    finally:
        os.close(descriptor)
