"""Read and write the record of a wheel that the store built: its inputs and its digest."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import StoreFailed
from greenroom.recipes.model import Build, Python  # noqa: TC001 - the record is decoded by its types

if TYPE_CHECKING:
    from greenroom.store.layout import Store

__all__ = ["WheelRecord", "commit", "path_of", "read"]

SCHEMA = 1
NAME = "wheel.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelRecord:
    """One built wheel."""

    key: str
    """Its wheel key: the name of its directory."""
    name: str
    """The distribution's normalized name."""
    version: str | None
    """As locked; None when the lock does not know it."""
    file: str
    """File name of the wheel, beside the record."""
    sha256: str
    size: int
    """Bytes of the wheel."""
    build: Build
    """What it was built from."""
    python: Python
    uv: str
    host: str
    built_at: float
    """Seconds since the epoch."""
    seconds: float
    """Duration of the build."""
    log: str
    """File name in the store's logs."""
    schema: int = SCHEMA


def path_of(store: Store, record: WheelRecord) -> str:
    """Return the wheel's absolute path."""
    return f"{store.wheel(record.key)}/{record.file}"


def read(store: Store, key: str) -> WheelRecord | None:
    """Return the record of a built wheel, None when there is none that can be used.

    A record that cannot be read, and a wheel of another size than recorded, count as absent.
    """
    import msgspec  # noqa: PLC0415 - only where something is built

    try:
        with open(f"{store.wheel(key)}/{NAME}", "rb") as file:
            record = msgspec.json.decode(file.read(), type=WheelRecord)
        usable = record.schema == SCHEMA and record.key == key
        return record if usable and os.path.getsize(path_of(store, record)) == record.size else None
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def commit(store: Store, record: WheelRecord, folder: str) -> None:
    """Give a built wheel its place: the record beside it, flushed, then one rename.

    :param folder: holds the wheel; on the store's file system; gone afterwards.
    :raises StoreFailed: the operating system refuses.
    """
    import msgspec  # noqa: PLC0415 - only where something is built

    target = store.wheel(record.key)
    try:
        _write(os.path.join(folder, NAME), msgspec.json.encode(record))
        os.chmod(os.path.join(folder, record.file), 0o644)  # whatever the umask: nodes and images copy it
        os.chmod(folder, 0o755)  # noqa: S103 - likewise
        for name in (record.file, NAME, "."):
            _flush(os.path.join(folder, name))
        if os.path.lexists(target):  # one that cannot be used
            shutil.rmtree(target)
        os.rename(folder, target)
        _flush(store.wheels)
    except OSError as error:
        raise StoreFailed.of("keep the built wheel", target, error) from error


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "wb") as file:
        file.write(content)
    os.chmod(path, 0o644)


def _flush(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
