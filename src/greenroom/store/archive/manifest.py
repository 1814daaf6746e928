"""What an archive says it holds, and whether that may be written anywhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from greenroom.errors import ArchiveRefused, RecordUnreadable
from greenroom.recipes import keys
from greenroom.store import layout, records
from greenroom.store.model import PARTIAL, RECORD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.store.model import Record

__all__ = ["Manifest", "Member", "check_links", "decode", "encode"]

SCHEMA = 1
"""Raised when an older greenroom would misread a newer one's archives."""
NAME = "greenroom.manifest.json"
"""The first member of an archive."""
LARGEST = 1 << 28
"""Bytes: a manifest of more (a million files and more) is refused before it is read."""
_DIGEST = frozenset("0123456789abcdef")


class Member(msgspec.Struct, frozen=True, array_like=True):
    """One file."""

    path: str
    """Relative to the environment."""
    size: int
    sha256: str
    """Hexadecimal; empty for a hard link."""
    executable: bool = False
    same: str = ""
    """The earlier member that this is a hard link to."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """An archive's table of contents, in the order in which the members come."""

    schema: int
    key: str
    record: msgspec.Raw
    """The record of the environment that was packed: JSON."""
    folders: tuple[str, ...]
    """Each after the one that it is in."""
    members: tuple[Member, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links inside of the environment: path and relative target."""
    interpreters: tuple[str, ...] = ()
    """Links to the base interpreter: written on the target, for its own."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(member.size for member in self.members if not member.same)


class _Head(msgspec.Struct):
    schema: int


def encode(manifest: Manifest) -> bytes:
    """Return a manifest as JSON."""
    return msgspec.json.encode(manifest) + b"\n"


def decode(text: bytes, source: str) -> tuple[Manifest, Record]:
    """Return a manifest and its record, when all that it names may be written into a private folder.

    :param source: where the archive comes from, for errors.
    :raises ArchiveRefused: it is damaged, of a newer greenroom, or names something outside.
    """
    try:
        schema = msgspec.json.decode(text, type=_Head).schema
        if schema != SCHEMA:
            raise ArchiveRefused(source, f"its manifest has schema {schema}, this greenroom reads {SCHEMA}")
        manifest = msgspec.json.decode(text, type=Manifest)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ArchiveRefused(source, f"its manifest is damaged: {error}") from error
    try:
        record = records.decode(bytes(manifest.record), source)
    except RecordUnreadable as error:
        raise ArchiveRefused(source, f"its record cannot be used: {error.reason}") from error
    _check_key(manifest, record, source)
    reason = _wrong(manifest)
    if reason:
        raise ArchiveRefused(source, reason)
    return manifest, record


def check_links(links: Iterable[tuple[str, str]]) -> str:
    """Return why one of some symbolic links may lead out of the environment, empty when none may.

    ``..`` is allowed at the beginning only, and no link's way leads through another link: then the
    text of a target says where it leads.
    """
    known = dict(links)
    for path, target in known.items():
        parts = target.split("/")
        while parts and parts[0] == "..":
            parts.pop(0)
        plain = not any(part in {"", ".", ".."} for part in parts) and "\0" not in target
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if not plain or os.path.isabs(target) or place == ".." or place.startswith("../"):
            return f"the link {path} leads out of the environment, to {target}"
        steps = place.split("/")
        if any("/".join(steps[:count]) in known for count in range(1, len(steps))):
            return f"the link {path} leads through another link, to {target}"
    return ""


def _check_key(manifest: Manifest, record: Record, source: str) -> None:
    if not layout.is_key(manifest.key) or record.key != manifest.key:
        raise ArchiveRefused(source, "its record is not that of its key")
    if keys.key(record.recipe) != manifest.key:
        raise ArchiveRefused(source, f"its recipe does not give {manifest.key}")
    if record.pending:
        raise ArchiveRefused(source, "its environment is not complete")


def _wrong(manifest: Manifest) -> str:
    """Return what in a manifest may not be written, empty when all may."""
    folders: set[str] = set()
    for path in manifest.folders:
        if not _inside(path, folders) or path in folders:
            return f"it names the folder {path!r}"
        folders.add(path)
    taken = {RECORD, PARTIAL, *folders}
    files: set[str] = set()
    for member in manifest.members:
        if not _inside(member.path, folders) or member.path in taken:
            return f"it names the file {member.path!r}"
        if not _plausible(member, files):
            return f"what it says of {member.path!r} makes no sense"
        taken.add(member.path)
        if not member.same:
            files.add(member.path)
    links = [path for path, _ in manifest.links]
    for path in (*links, *manifest.interpreters):
        if not _inside(path, folders) or path in taken:
            return f"it names the link {path!r}"
        taken.add(path)
    return check_links(manifest.links)


def _inside(path: str, folders: set[str]) -> bool:
    """Tell whether a path is a plain name in a folder that was named before."""
    folder, slash, name = path.rpartition("/")
    if name in {"", ".", ".."} or "\0" in name:
        return False
    return folder in folders if slash else True


def _plausible(member: Member, files: set[str]) -> bool:
    if member.same:
        return member.same in files and not member.size and not member.sha256
    return member.size >= 0 and len(member.sha256) == 64 and _DIGEST.issuperset(member.sha256)
