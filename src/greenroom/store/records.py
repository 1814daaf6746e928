"""Read and write the record of an environment: the commit, JSON with a schema number.

The record is written last and atomically; whatever stands at an environment's path without a
readable one is no environment. A record is never changed in place: leases are locks on it.
"""

from __future__ import annotations

import errno
import os
from dataclasses import MISSING, fields
from secrets import token_hex
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from greenroom.errors import RecordUnreadable, StoreFailed
from greenroom.recipes.model import Build, Distribution, Editable, Late, Recipe, Wheel
from greenroom.store.model import SCHEMA, Record

if TYPE_CHECKING:
    from greenroom.store.layout import Store

__all__ = [
    "decode",
    "encode",
    "forget_partial",
    "last_used",
    "read",
    "read_partial",
    "write",
    "write_partial",
]

_NO_FLUSH = {errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EOPNOTSUPP}
"""File systems that flush no directories."""
_CONTENTS = {"wheel": Wheel, "build": Build, "editable": Editable, "late": Late}


def _struct(of: type, **replaced: Any) -> Any:
    hints = get_type_hints(of)
    rows = []
    for field in fields(of):
        kind = replaced.get(field.name, hints[field.name])
        rows.append((field.name, kind) if field.default is MISSING else (field.name, kind, field.default))
    return msgspec.defstruct(of.__name__, rows, kw_only=True)


# The wire's types follow the data's fields, so that no later field is forgotten. Content is told
# apart by a name around it: plain dataclasses carry none.
_Content: Any = msgspec.defstruct(
    "Content", [(name, kind | None, None) for name, kind in _CONTENTS.items()], omit_defaults=True
)
_Distribution: Any = _struct(Distribution, content=_Content)
_Recipe: Any = _struct(Recipe, distributions=tuple[_Distribution, ...])
_Record: Any = _struct(Record, recipe=_Recipe)
_Head: Any = msgspec.defstruct("Head", [("schema", int)])


def encode(record: Record) -> bytes:
    """Return a record as JSON, one line."""
    distributions = tuple(
        _as(_Distribution, item, content=_tagged(item.content)) for item in record.recipe.distributions
    )
    recipe = _as(_Recipe, record.recipe, distributions=distributions)
    text: bytes = msgspec.json.encode(_as(_Record, record, recipe=recipe))
    return text + b"\n"


def decode(text: bytes, path: str) -> Record:
    """Return the record that ``text`` holds.

    :param path: where it was read, for the error.
    :raises RecordUnreadable: it is not a record, or one of a newer greenroom.
    """
    try:
        schema = msgspec.json.decode(text, type=_Head).schema
        if schema <= SCHEMA:
            return _record(msgspec.json.decode(text, type=_Record))
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError) as error:
        raise RecordUnreadable(path, f"{os.path.basename(path)} is torn or edited: {error}") from error
    raise RecordUnreadable(path, f"built by a newer greenroom (record schema {schema})", newer=True)


def read(store: Store, key: str) -> Record | None:
    """Return the record of an environment, None when there is none.

    :raises RecordUnreadable: it is damaged, of another key, unreadable, or of a newer greenroom.
    """
    return _read(store.record(key), key)


def read_partial(store: Store, key: str) -> Record | None:
    """Return the partial record of an environment, None when there is none.

    :raises RecordUnreadable: as :func:`read`.
    """
    return _read(store.partial(key), key)


def write(store: Store, record: Record) -> None:
    """Commit an environment: temporary file, flush, rename, flush of the directory; mode 0644.

    :raises StoreFailed: the operating system refuses; no record is there then.
    """
    _write(store.record(record.key), encode(record))


def write_partial(store: Store, record: Record) -> None:
    """Say that an unfinished environment of an image stands here on purpose.

    :raises StoreFailed: the operating system refuses.
    """
    _write(store.partial(record.key), encode(record))


def forget_partial(store: Store, key: str) -> None:
    """Remove the partial record of an environment that is ready now; the record counts before it."""
    _forget(store.partial(key))


def last_used(store: Store, record: Record) -> float:
    """Return when an environment was last used, seconds since the epoch.

    Each start of an interpreter reads ``pyvenv.cfg``, and ``relatime`` keeps the first read of each
    day; where access times are switched off, it is the time of the build.
    """
    try:
        atime = os.stat(f"{store.environment(record.key)}/pyvenv.cfg").st_atime
    except OSError:
        return record.built_at
    return max(atime, record.built_at)


def _read(path: str, key: str) -> Record | None:
    try:
        with open(path, "rb") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RecordUnreadable(path, f"it cannot be read: {error.strerror}") from error
    record = decode(text, path)
    if record.key != key:
        raise RecordUnreadable(path, f"it is the record of {record.key}")
    return record


def _write(path: str, text: bytes) -> None:
    directory = os.path.dirname(path)
    temporary = f"{path}.{token_hex(6)}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            os.fchmod(descriptor, 0o644)  # whatever the umask: other users launch by it
            _write_all(descriptor, text)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)
        _flush_directory(directory)
    except OSError as error:
        _forget(temporary)
        raise StoreFailed.of("write the record", path, error) from error


def _write_all(descriptor: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _flush_directory(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FLUSH:
            raise
    finally:
        os.close(descriptor)


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _record(wire: Any) -> Record:
    distributions = tuple(
        Distribution(name=item.name, version=item.version, content=_untagged(item.content))
        for item in wire.recipe.distributions
    )
    found: Record = _as(Record, wire, recipe=_as(Recipe, wire.recipe, distributions=distributions))
    return found


def _as(kind: Any, value: Any, **replaced: Any) -> Any:
    names = getattr(kind, "__struct_fields__", None) or [field.name for field in fields(kind)]
    return kind(**{name: replaced[name] if name in replaced else getattr(value, name) for name in names})


def _tagged(content: Any) -> Any:
    return _Content(**{type(content).__name__.lower(): content})


def _untagged(wire: Any) -> Any:
    found = [value for name in _CONTENTS if (value := getattr(wire, name)) is not None]
    if len(found) != 1:
        msg = "a distribution needs exactly one content"
        raise ValueError(msg)
    return found[0]
