"""Write an environment as one archive: first what it holds, then the files, streamed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from greenroom.errors import PackRefused, StoreFailed
from greenroom.recipes.model import Editable
from greenroom.store import layout, leasing, records, rows
from greenroom.store.archive import blocks, zstd
from greenroom.store.archive.manifest import NAME, SCHEMA, Manifest, Member, check_links
from greenroom.store.archive.manifest import encode as encode_manifest
from greenroom.store.model import RECORD, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from greenroom.store.layout import Store
    from greenroom.store.model import Record

    Write = Callable[[bytes], object]

__all__ = ["Packed", "pack"]

LEVEL = 3
"""zstd's own default: most of what can be gained, at the speed of a disk."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An archive that was written."""

    key: str
    files: int
    size: int
    """Bytes of the files."""
    packed: int
    """Bytes of the archive."""
    sources: tuple[str, ...]
    """Directories of local sources that have to stand at the same place where it is unpacked."""


def pack(store: Store, key: str, write: Write) -> Packed:
    """Write the archive of a ready environment; it is held against collection meanwhile.

    Files are read twice: for the manifest, which comes first, and for the content. Memory is bounded:
    one chunk of a file, and the manifest.

    :param write: takes the archive's bytes, piece by piece.
    :raises PackRefused: it is not ready, or holds what no archive can.
    :raises EnvironmentGone: it was removed meanwhile.
    :raises StoreFailed: a file cannot be read.
    """
    state, reason = layout.state(store, key)
    record = records.read(store, key) if state == State.READY else None
    if record is None:
        raise PackRefused(store.environment(key), reason or state)
    lease = leasing.lease(store.record(key))
    try:
        root = store.environment(key)
        manifest = _manifest(root, record)
        return _written(root, manifest, record, write)
    except OSError as error:
        raise StoreFailed.of("pack the environment", error.filename or store.path, error) from error
    finally:
        os.close(lease)


def _written(root: str, manifest: Manifest, record: Record, write: Write) -> Packed:
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {
        parameter.compression_level: LEVEL,
        parameter.checksum_flag: 1,
        parameter.nb_workers: min(4, os.cpu_count() or 1),
    }
    compressor = zstd.ZstdCompressor(options=options)
    packed = 0

    def out(piece: bytes) -> None:
        nonlocal packed
        if piece:
            packed += len(piece)
            write(piece)

    text = encode_manifest(manifest)
    out(compressor.compress(blocks.header(NAME, size=len(text)) + text + bytes(blocks.padding(len(text)))))
    for piece in _contents(root, manifest):
        out(compressor.compress(piece))
    out(compressor.compress(blocks.END))
    out(compressor.flush())
    sources = [
        item.content.path for item in record.recipe.distributions if isinstance(item.content, Editable)
    ]
    return Packed(
        key=manifest.key,
        files=len(manifest.members),
        size=manifest.size,
        packed=packed,
        sources=tuple(sources),
    )


def _contents(root: str, manifest: Manifest) -> Iterator[bytes]:
    for member in manifest.members:
        if member.same:
            yield blocks.header(member.path, executable=member.executable, link=member.same)
            continue
        yield blocks.header(member.path, size=member.size, executable=member.executable)
        digest, size = sha256(), 0
        with open(f"{root}/{member.path}", "rb") as file:
            while piece := file.read(_CHUNK):
                digest.update(piece)
                size += len(piece)
                yield piece
        if size != member.size or digest.hexdigest() != member.sha256:
            raise PackRefused(f"{root}/{member.path}", "it changed while it was read")
        yield bytes(blocks.padding(size))


def _manifest(root: str, record: Record) -> Manifest:
    tree = _Tree(root, record.recipe.python.path)
    tree.walk()
    wrong = check_links(tree.links)
    if wrong:
        raise PackRefused(root, wrong)
    return Manifest(
        schema=SCHEMA,
        key=record.key,
        record=msgspec.Raw(records.encode(record).strip()),
        folders=tuple(tree.folders),
        members=tuple(tree.members),
        links=tuple(sorted(tree.links)),
        interpreters=tuple(sorted(tree.interpreters)),
    )


class _Tree:
    """Everything in an environment, sorted, each folder before what is in it."""

    def __init__(self, root: str, interpreter: str) -> None:
        self._root = root
        self._interpreter = interpreter
        self._inodes: dict[tuple[int, int], str] = {}
        self.folders: list[str] = []
        self.members: list[Member] = []
        self.links: list[tuple[str, str]] = []
        self.interpreters: list[str] = []

    def walk(self, folder: str = "") -> None:
        """Take in a folder and everything below it."""
        with os.scandir(f"{self._root}/{folder}") as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            path = f"{folder}{entry.name}"
            if not path.isprintable():  # also what is no UTF-8
                raise PackRefused(repr(f"{self._root}/{path}"), "its name cannot be printed")
            if entry.is_symlink():
                self._link(path)
            elif entry.is_dir(follow_symlinks=False):
                self.folders.append(path)
                self.walk(f"{path}/")
            elif not entry.is_file(follow_symlinks=False):
                raise PackRefused(f"{self._root}/{path}", "is no file, folder or link")
            elif path != RECORD:
                self._file(path, entry.stat(follow_symlinks=False))

    def _link(self, path: str) -> None:
        target = os.readlink(f"{self._root}/{path}")
        if os.path.isabs(target) and os.path.realpath(target) == os.path.realpath(self._interpreter):
            self.interpreters.append(path)
        else:
            self.links.append((path, target))

    def _file(self, path: str, status: os.stat_result) -> None:
        executable = bool(status.st_mode & 0o111)
        identity = (status.st_dev, status.st_ino)
        known = self._inodes.get(identity) if status.st_nlink > 1 else None
        if known is not None:
            self.members.append(Member(path=path, size=0, sha256="", executable=executable, same=known))
            return
        self._inodes[identity] = path
        digest = rows.file_digest(f"{self._root}/{path}")
        self.members.append(Member(path=path, size=status.st_size, sha256=digest, executable=executable))
