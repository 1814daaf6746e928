"""Take archives apart and make others of the parts: what a hostile or careless writer could write."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import msgspec

from greenroom.store.archive import blocks, zstd
from greenroom.store.archive.manifest import NAME, Manifest, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["compressed", "contents", "craft", "pieces", "tar_of"]


def compressed(tar: bytes) -> bytes:
    """Compress as a writer of archives does."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
    return compressor.compress(tar) + compressor.flush()


def tar_of(archive: bytes) -> bytes:
    """Return the tar in an archive."""
    return zstd.ZstdDecompressor().decompress(archive)


def contents(archive: bytes) -> tuple[Manifest, dict[str, bytes]]:
    """Return an archive's manifest and files, read by the standard library's own tar."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(tar_of(archive))) as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            files[member.name] = file.read()
    manifest = msgspec.json.decode(files.pop(NAME), type=Manifest)
    return manifest, files


def craft(manifest: Manifest, files: Mapping[str, bytes]) -> bytes:
    """Return the archive that a writer makes of a manifest, whatever that says."""
    text = encode(manifest)
    tar = blocks.header(NAME, size=len(text)) + text + bytes(blocks.padding(len(text)))
    for member in manifest.members:
        link = member.same or None
        tar += blocks.header(member.path, size=member.size, executable=member.executable, link=link)
        if link is None:
            content = files[member.path]
            tar += content + bytes(blocks.padding(len(content)))
    return compressed(tar + blocks.END)


def pieces(archive: bytes, size: int = 1 << 16) -> Iterator[bytes]:
    """Yield an archive in pieces."""
    for start in range(0, len(archive), size):
        yield archive[start : start + size]
