"""Read servers' logs as people want them: lines with their times, interleaved, or as they come."""

from __future__ import annotations

import heapq
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from greenroom.servers import logfiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Follower", "Line", "interleaved", "last", "shown"]

_BLOCK = 1 << 20
_LONGEST = 1 << 16
"""Bytes: a longer line is told in pieces, so that no server can fill a reader's memory."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Line(NamedTuple):
    """One line of one server."""

    time: int
    """Nanoseconds since the epoch: when the block came in which it begins."""
    unit: str
    data: bytes
    """Without its end."""


class Follower:
    """Reads one unit's log from some time on, and goes on where it stopped.

    :param since: nanoseconds since the epoch.
    """

    def __init__(self, unit: str, path: str, since: int = 0) -> None:
        self._unit, self._path, self._since = unit, path, since
        self._left = logfiles.generations(path)
        self._file = -1
        self._times: list[tuple[int, int]] = []
        self._offset = self._at = 0
        self._rest = b""

    def read(self) -> Iterator[Line]:
        """Yield the lines that are whole by now."""
        while True:
            if self._file < 0 and not self._open():
                return
            data = os.pread(self._file, _BLOCK, self._offset)
            if data:
                yield from self._lines(data)
            elif not self._turned():
                return

    def finish(self) -> Iterator[Line]:
        """Yield what is there of a line without an end, and close."""
        yield from self.read()
        if self._rest:
            yield Line(self._time(self._offset - len(self._rest)), self._unit, self._rest)
            self._rest = b""
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> bool:
        while self._left:
            path = self._left[0]
            try:
                self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                if path == self._path:  # nothing was written yet
                    return False
                self._left.pop(0)
                continue
            self._left.pop(0)
            self._times, self._at, self._offset = [], 0, 0
            self._note_times(path)
            if self._since:
                early = [offset for offset, time in self._times if time >= self._since]
                later = self._times and self._times[-1][1] < self._since
                self._offset = os.fstat(self._file).st_size if later else early[0] if early else 0
            return True
        return False

    def _note_times(self, path: str) -> None:
        try:
            with open(logfiles.times(path), "rb") as stream:
                stream.seek(len(self._times) * logfiles.ENTRY.size)
                data = stream.read()
        except OSError:
            return
        whole = len(data) - len(data) % logfiles.ENTRY.size
        self._times += logfiles.ENTRY.iter_unpack(data[:whole])

    def _turned(self) -> bool:
        """Tell whether a new file was begun meanwhile; this one is then at its end."""
        if self._left:
            self.close()
            return True
        try:
            now = os.stat(self._path)
        except OSError:
            return False
        own = os.fstat(self._file)
        if (now.st_dev, now.st_ino) == (own.st_dev, own.st_ino):
            return False
        self.close()
        self._left = [self._path]
        return True

    def _lines(self, data: bytes) -> Iterator[Line]:
        if not self._left:
            self._note_times(self._path)
        begin = self._offset - len(self._rest)
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            for start in range(0, max(len(line), 1), _LONGEST):
                yield Line(self._time(begin + start), self._unit, line[start : start + _LONGEST])
            begin += len(line) + 1
        while len(self._rest) >= _LONGEST:
            yield Line(self._time(begin), self._unit, self._rest[:_LONGEST])
            begin += _LONGEST
            self._rest = self._rest[_LONGEST:]

    def _time(self, offset: int) -> int:
        times = self._times
        while self._at + 1 < len(times) and times[self._at + 1][0] <= offset:
            self._at += 1
        return times[self._at][1] if times else 0


def interleaved(logs: Iterable[tuple[str, str]], since: int = 0) -> Iterator[Line]:
    """Yield the lines of several logs (unit, path) in the order in which they came."""
    sources = [Follower(unit, path, since).finish() for unit, path in logs]
    return heapq.merge(*sources, key=lambda line: line.time)


def last(lines: Iterable[Line], number: int | None) -> Iterable[Line]:
    """Return the last ones of some lines; None: all of them."""
    from collections import deque  # noqa: PLC0415 - needed for this only

    return lines if number is None else deque(lines, maxlen=number)


def shown(data: bytes, hide: Callable[[str], str] = str, *, colours: bool = False) -> str:
    """Return a line as it may be shown: no secret, and nothing that a terminal would obey.

    :param colours: whether colours are let through.
    """
    text = hide(data.rstrip(b"\r").decode("utf-8", "backslashreplace"))
    parts = _COLOURS.split(text)
    clean = [_CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", part) for part in parts]
    if not colours or len(parts) == 1:
        return "".join(clean)
    codes = _COLOURS.findall(text)
    return "".join(part + code for part, code in zip(clean, [*codes, "\x1b[0m"], strict=True))
