"""Let declared commands change an environment before its proof, and nothing else through it.

A ``post-install`` command may patch files. They are links to uv's cache, so that a change in place would
reach every environment on this machine: therefore each file first gets an inode of its own.
Afterwards the RECORDs say what stands there now, so that proof and ``verify`` go on from that.
"""

from __future__ import annotations

import csv
import io
import os
from base64 import urlsafe_b64encode
from contextlib import suppress

from greenroom.errors import StoreFailed
from greenroom.store import linking, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.store.rows import Found

__all__ = ["adopt", "prepare"]

Memory = dict[str, tuple[int, ...]]
"""Path relative to the environment -> inode, size, and times of content and status (ns)."""


def prepare(root: str) -> Memory:
    """Give each file of a distribution an inode of its own, and remember all of them.

    :param root: the environment's directory, absolute.
    :raises StoreFailed: a file cannot be copied.
    """
    memory: Memory = {}
    found, _ = rows.distributions(root)
    try:
        for path in {row[0] for item in found for row in item.rows}:
            place = f"{root}/{path}"
            with suppress(FileNotFoundError):  # the proof says it
                if os.lstat(place).st_nlink > 1:
                    linking.copy_beside(place, place)
                memory[path] = _identity(place)
    except OSError as error:
        raise StoreFailed.of("copy files", error.filename or root, error) from error
    return memory


def adopt(root: str, memory: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
    """Write into the RECORDs what became of the remembered files.

    :returns: the paths that were changed or removed, sorted.
    :raises StoreFailed: a RECORD cannot be written.
    """
    changed = []
    try:
        for path, identity in memory.items():
            if _identity_or_none(f"{root}/{path}") != identity:
                changed.append(path)
        found, _ = rows.distributions(root)
        for item in found:
            if any(row[0] in changed for row in item.rows):
                _rewrite(root, item, set(changed))
    except OSError as error:
        raise StoreFailed.of("write a RECORD", error.filename or root, error) from error
    return tuple(sorted(changed))


def _rewrite(root: str, item: Found, changed: set[str]) -> None:
    site = item.info.rpartition("/")[0]
    path = f"{root}/{item.info}/RECORD"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for place, digest, size in item.rows:
        said, bytes_ = (f"sha256={digest}" if digest else ""), ("" if size < 0 else str(size))
        if place in changed and place != f"{item.info}/RECORD":
            if not os.path.lexists(f"{root}/{place}"):
                continue
            hexadecimal = rows.file_digest(f"{root}/{place}")
            said = f"sha256={urlsafe_b64encode(bytes.fromhex(hexadecimal)).decode().rstrip('=')}"
            bytes_ = str(os.stat(f"{root}/{place}").st_size)
        writer.writerow((os.path.relpath(place, site), said, bytes_))
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text.getvalue())
    os.rename(temporary, path)


def _identity_or_none(path: str) -> tuple[int, ...] | None:
    try:
        return _identity(path)
    except FileNotFoundError:
        return None


def _identity(path: str) -> tuple[int, ...]:
    status = os.lstat(path)
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
