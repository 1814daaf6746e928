"""Write the members of an archive into a private folder, and compare every digest meanwhile."""

from __future__ import annotations

import os
import threading
from hashlib import sha256
from queue import Queue
from typing import TYPE_CHECKING

from greenroom.errors import ArchiveRefused
from greenroom.store.archive import blocks

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from greenroom.store.archive.manifest import Manifest, Member
    from greenroom.store.archive.reading import Stream

__all__ = ["write"]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BATCH = 1 << 20
"""Bytes that are handed to the digests at once."""
_MANY = 4096
"""Pieces that are handed to the digests at once, when they are small."""
_UNCHECKED = b"\1\0\0\0"
_FLAGS = slice(4, 8)
"""The flags in a compiled file (PEP 552)."""


def write(stream: Stream, manifest: Manifest, root: str, interpreter: str, source: str) -> tuple[str, ...]:
    """Fill a private folder that exists and is empty.

    Files are made where nothing is, below folders that were made here; links come last, so that
    nothing is written through one.

    :param interpreter: what the links to the base interpreter lead to.
    :param source: where the archive comes from, for errors.
    :returns: the compiled files that do not compare themselves with their source.
    :raises ArchiveRefused: a member is not what the manifest says.
    :raises OSError: the operating system refuses.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in manifest.folders:
            os.mkdir(path, 0o755, dir_fd=folder)
        with _Digests(source) as digests:
            compiled = tuple(
                member.path for member in manifest.members if _write(stream, member, folder, digests, source)
            )
        if stream.take(len(blocks.END)) != blocks.END:
            raise ArchiveRefused(source, "something follows behind its last member")
        stream.end()
        for path, target in manifest.links:
            os.symlink(target, path, dir_fd=folder)
        for path in manifest.interpreters:
            os.symlink(interpreter, path, dir_fd=folder)
    finally:
        os.close(folder)
    return compiled


def _write(stream: Stream, member: Member, folder: int, digests: _Digests, source: str) -> bool:
    """Write one member, and tell whether it is compiled and unchecked."""
    link = member.same or None
    head = blocks.header(member.path, size=member.size, executable=member.executable, link=link)
    if stream.take(len(head)) != head:
        raise ArchiveRefused(source, f"{member.path} does not stand where its manifest says")
    if link is not None:
        os.link(link, member.path, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        return False
    first = b""
    descriptor = os.open(member.path, _NEW, 0o755 if member.executable else 0o644, dir_fd=folder)
    try:
        for piece in stream.pieces(member.size):
            first = first or bytes(piece[: _FLAGS.stop])
            _write_all(descriptor, piece)
            digests.add(member, piece)
    finally:
        os.close(descriptor)
    digests.end(member)
    padding = blocks.padding(member.size)
    if padding and stream.take(padding).strip(b"\0"):
        raise ArchiveRefused(source, f"{member.path} is longer than its manifest says")
    return member.path.endswith(".pyc") and first[_FLAGS] == _UNCHECKED


def _write_all(descriptor: int, piece: memoryview) -> None:
    while piece:
        piece = piece[os.write(descriptor, piece) :]


class _Digests:
    """Computes digests on a thread of its own, in batches, at most two behind."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._queue: Queue[list[tuple[Member, memoryview | None]] | None] = Queue(maxsize=2)
        self._batch: list[tuple[Member, memoryview | None]] = []
        self._size = 0
        self._wrong: list[str] = []
        self._thread = threading.Thread(target=self._work, name="greenroom-digests", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Compute what is left, and raise what was wrong."""
        self._queue.put(self._batch)
        self._queue.put(None)
        self._thread.join()
        if kind is None:
            self._check()

    def add(self, member: Member, piece: memoryview) -> None:
        """Take a piece of a member's content.

        :raises ArchiveRefused: an earlier member's digest was wrong.
        """
        self._batch.append((member, piece))
        self._size += len(piece)
        if self._size >= _BATCH:
            self._hand_on()

    def end(self, member: Member) -> None:
        """Take the end of a member, whose digest is compared then.

        :raises ArchiveRefused: an earlier member's was wrong.
        """
        self._batch.append((member, None))
        if len(self._batch) >= _MANY:
            self._hand_on()

    def _hand_on(self) -> None:
        self._check()
        self._queue.put(self._batch)
        self._batch, self._size = [], 0

    def _check(self) -> None:
        if self._wrong:
            raise ArchiveRefused(self._source, f"{self._wrong[0]} is not what its manifest says")

    def _work(self) -> None:
        digest = sha256()
        while (batch := self._queue.get()) is not None:
            for member, piece in batch:
                if piece is not None:
                    digest.update(piece)
                    continue
                if digest.hexdigest() != member.sha256:
                    self._wrong.append(member.path)
                digest = sha256()
