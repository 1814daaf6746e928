"""A server's output on the disk: raw blocks, and beside them when each came.

Lines are not looked at: copying line by line costs fifteen to twenty times as much. Beside ``<name>.log``
stands ``<name>.log.times``: pairs of the offset (bytes) and the time (nanoseconds since the epoch) of
each block, 16 bytes each. Prefixes, colours and ``--since`` happen on reading (:mod:`logreading`).

A disk that is full stops no server: what cannot be written is counted, and the gap is told in the log
as soon as there is room.
"""

from __future__ import annotations

import os
import struct
import time
from contextlib import suppress

__all__ = ["LogFile", "file_name", "generations", "times"]

ENTRY = struct.Struct("<QQ")
_TICK = 2_000_000
"""Nanoseconds: blocks that follow closer than this share one time."""


def file_name(unit: str) -> str:
    """Return the name of a server's log, whatever the server is called."""
    from urllib.parse import quote  # noqa: PLC0415 - once for each server

    name = quote(unit, safe=" +,=@~!()[]")
    if len(name) > 200:
        from hashlib import sha256  # noqa: PLC0415

        name = f"{name[:150]}-{sha256(unit.encode()).hexdigest()[:16]}"
    return f"{name}.log"


def times(path: str) -> str:
    """Return the path of the times beside a log."""
    return f"{path}.times"


def generations(path: str, keep: int = 10_000) -> list[str]:
    """Return the files that hold a log, the oldest first."""
    found = [path]
    for number in range(1, keep + 1):
        older = f"{path}.{number}"
        if not os.path.exists(older):
            break
        found.insert(0, older)
    return found


class LogFile:
    """The writing side of one server's log.

    :param rotate: bytes after which a new file is begun.
    :param keep: how many files of before are kept.
    """

    def __init__(self, path: str, *, rotate: int, keep: int) -> None:
        self.path = path
        self.lost = 0
        """Bytes that could not be written since the last time there was room."""
        self._rotate, self._keep = rotate, keep
        self._file = self._times = -1
        self._size = 0
        self._stamp = 0

    def write(self, data: bytes) -> None:
        """Append a block; never raises for a disk that takes none."""
        try:
            if self._file < 0:
                self._open()
            if self.lost:
                note = f"[greenroom: {self.lost} bytes could not be written]\n".encode()
                self._append(note)
                self.lost = 0
            if self._size + len(data) > self._rotate and self._size:
                cut = data.find(b"\n") + 1
                if cut or self._size > self._rotate:
                    self._append(data[:cut])
                    data = data[cut:]
                    self._turn()
            self._append(data)
        except OSError:
            self.lost += len(data)

    def close(self) -> None:
        """Close the files."""
        for descriptor in (self._file, self._times):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._times = -1

    def descriptor(self) -> int:
        """Return a descriptor that a process may write to without us; the caller closes it.

        :raises OSError: the file cannot be opened.
        """
        if self._file < 0:
            self._open()
        return os.dup(self._file)

    def _open(self) -> None:
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o600)
        self._size = os.fstat(self._file).st_size
        self._stamp = 0
        try:
            self._times = os.open(times(self.path), flags, 0o600)
        except OSError:
            self.close()
            raise

    def _append(self, data: bytes) -> None:
        if not data:
            return
        now = time.time_ns()
        if now - self._stamp > _TICK:
            with suppress(OSError):
                os.write(self._times, ENTRY.pack(self._size, now))
                self._stamp = now
        view = memoryview(data)
        while view:
            written = os.write(self._file, view)
            self._size += written
            view = view[written:]

    def _turn(self) -> None:
        """Begin a new file; the oldest one goes."""
        self.close()
        if self._keep == 0:
            for path in (self.path, times(self.path)):
                os.unlink(path)
        for number in range(self._keep, 0, -1):
            source = self.path if number == 1 else f"{self.path}.{number - 1}"
            for old, new in (
                (source, f"{self.path}.{number}"),
                (times(source), times(f"{self.path}.{number}")),
            ):
                if os.path.exists(old):
                    os.replace(old, new)
        self._open()
