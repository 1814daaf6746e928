"""Take the decompressed bytes of an archive one piece after the other, in bounded memory.

A thread of its own reads and decompresses, two pieces ahead: both let other threads run meanwhile.
"""

from __future__ import annotations

import threading
from queue import Queue
from typing import TYPE_CHECKING

from greenroom.errors import ArchiveRefused
from greenroom.store.archive import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Self

__all__ = ["Stream"]

PIECE = 1 << 20
"""Bytes of a piece at most."""
AHEAD = 2
WINDOW = 27
"""The largest window that is accepted, as a power of two: 128 MiB of memory, zstd's own limit."""


class Stream:
    """The decompressed bytes of an archive.

    :param pieces: the compressed bytes; taken on a thread of the stream's own.
    :param source: where they come from, for errors.
    """

    def __init__(self, pieces: Iterable[bytes], source: str) -> None:
        self._pieces = pieces
        self._source = source
        self._queue: Queue[bytes | BaseException | None] = Queue(maxsize=AHEAD)
        self._closed = False
        self._ended = False
        self._left = memoryview(b"")
        self._thread = threading.Thread(target=self._work, name="greenroom-decompress", daemon=True)

    def __enter__(self) -> Self:
        """Start to read."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop reading, wherever it stands."""
        self._closed = True
        while not self._ended:
            self._ended = isinstance(self._queue.get(), BaseException | None)
        self._thread.join()

    def take(self, count: int) -> bytes:
        """Return the next ``count`` bytes: for little, as it is kept in memory.

        :raises ArchiveRefused: it ends before, or is damaged.
        """
        if len(self._left) >= count:
            found = self._left[:count]
            self._left = self._left[count:]
            return bytes(found)
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Iterator[memoryview]:
        """Yield the next ``count`` bytes in pieces, as they come.

        :raises ArchiveRefused: it ends before, or is damaged.
        """
        while count:
            if not self._left:
                self._left = memoryview(self._next())
                if not self._left:
                    raise ArchiveRefused(self._source, "it is cut off")
            piece = self._left[:count]
            self._left = self._left[count:]
            count -= len(piece)
            yield piece

    def end(self) -> None:
        """Read to the end, which has to be here: also zstd's checksum stands there.

        :raises ArchiveRefused: something follows, or the end is damaged.
        """
        if self._left or self._next():
            raise ArchiveRefused(self._source, "something follows behind its end")

    def _next(self) -> bytes:
        """Return the next piece, empty at the end."""
        if self._ended:
            return b""
        found = self._queue.get()
        if isinstance(found, bytes):
            return found
        self._ended = True
        if found is not None:
            raise found
        return b""

    def _work(self) -> None:
        try:
            for piece in self._decompressed():
                if self._closed:
                    break
                self._queue.put(piece)
        except zstd.ZstdError as error:
            self._queue.put(ArchiveRefused(self._source, f"it is damaged: {error}"))
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that reads
            self._queue.put(error)
        else:
            self._queue.put(None)

    def _decompressed(self) -> Iterator[bytes]:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW}
        one = zstd.ZstdDecompressor(options=options)
        for compressed in self._pieces:
            if one.eof and compressed:
                raise ArchiveRefused(self._source, "something follows behind its end")
            found = one.decompress(compressed, max_length=PIECE)
            while True:
                if found:
                    yield found
                if one.eof or one.needs_input:
                    break
                found = one.decompress(b"", max_length=PIECE)
            if one.unused_data:
                raise ArchiveRefused(self._source, "something follows behind its end")
        if not one.eof:
            raise ArchiveRefused(self._source, "it is cut off")
