"""Hard links with a way out: some files cannot be linked, and a copy does the same."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from secrets import token_hex

__all__ = ["cannot_link", "copy_beside", "full"]

_FALLBACK = {errno.EPERM, errno.EACCES, errno.EXDEV, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""EPERM and EACCES: the kernel protects another user's files (``fs.protected_hardlinks``), or the file
system has no links; EXDEV: another device or overlay layer."""


def full(error: OSError) -> bool:
    """Tell whether a file has all the links that its file system allows (ext4: 65,000)."""
    return error.errno == errno.EMLINK


def cannot_link(error: OSError) -> bool:
    """Tell whether a copy is the answer to a failed link."""
    return full(error) or error.errno in _FALLBACK


def copy_beside(source: str, target: str) -> None:
    """Copy a file with its mode and put it at ``target`` at once, whatever stands there.

    :raises OSError: the source cannot be read or the target not be written.
    """
    temporary = f"{target}.{token_hex(6)}"
    try:
        shutil.copyfile(source, temporary)
        shutil.copymode(source, temporary)
        os.rename(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
