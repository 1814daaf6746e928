"""Remember which declarations and aliases use which environments, so that collection keeps them.

One file for each, named by a digest of host and path. A declaration that is gone keeps nothing; one
of another host cannot be looked at from here, and keeps its environments for some time.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.components import Pairs
    from greenroom.store.layout import Store

__all__ = ["Root", "alive", "find", "read_all", "register", "torn"]

_DAY = 86_400.0
_FOREIGN_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """Something that uses environments of a store."""

    path: str
    """The declaration's file or the alias's directory."""
    host: str
    keys: tuple[str, ...]
    components: Pairs
    """Component -> its key, so that «what changed since» can be told."""
    at: float
    """When it was last registered, seconds since the epoch."""
    file: str
    """Where this is written."""


def register(
    store: Store, path: str, keys: Iterable[str], components: Mapping[str, str] | None = None
) -> bool:
    """Say that a declaration or an alias uses ``keys``, and nothing else any more.

    Writes only what is new, or older than a day; a store that cannot be written is left as it is.

    :param path: the declaration's file or the alias's directory, absolute.
    :param components: component -> its key.
    :returns: whether it stands there now.
    """
    host = socket.gethostname()
    file = _file(store, path, host)
    wanted = tuple(sorted(set(keys)))
    names = tuple(sorted((components or {}).items()))
    now = time.time()
    known = _read(file)
    same = known is not None and (known.keys, known.components) == (wanted, names)
    if known is not None and same and 0 <= now - known.at < _DAY:
        return True
    about = {"path": path, "host": host, "keys": wanted, "components": dict(names), "at": now}
    text = json.dumps(about)
    temporary = f"{file}.{token_hex(6)}"
    try:
        with open(temporary, "x", encoding="utf-8") as output:
            output.write(text)
        os.rename(temporary, file)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        return False
    return True


def find(store: Store, path: str) -> Root | None:
    """Return what a declaration or an alias of this host was last registered with."""
    return _read(_file(store, path, socket.gethostname()))


def read_all(store: Store) -> tuple[Root, ...]:
    """Return everything that is registered; what cannot be read is left out."""
    found = (_read(file) for file in _files(store))
    return tuple(root for root in found if root is not None)


def torn(store: Store) -> str | None:
    """Return a registration that says nothing because a power failure tore it, None when all are whole."""
    return next((file for file in _files(store) if os.path.lexists(file) and _read(file) is None), None)


def alive(root: Root, now: float) -> bool:
    """Tell whether a root still counts: its file is there, or it is another host's and recent.

    A time that lies ahead (a clock jumped back) counts as now.
    """
    if root.host == socket.gethostname():
        return os.path.lexists(root.path)
    return now - root.at < _FOREIGN_DAYS * _DAY


def _files(store: Store) -> list[str]:
    try:
        names = sorted(os.listdir(store.roots))
    except OSError:
        return []
    return [f"{store.roots}/{name}" for name in names if name.endswith(".json")]


def _file(store: Store, path: str, host: str) -> str:
    name = sha256(os.fsencode(f"{host}\0{path}")).hexdigest()[:24]
    return f"{store.roots}/{name}.json"


def _read(file: str) -> Root | None:
    try:
        with open(file, encoding="utf-8") as input_:
            found = json.load(input_)
        return Root(
            path=str(found["path"]),
            host=str(found["host"]),
            keys=tuple(str(key) for key in found["keys"]),
            components=tuple(sorted((str(n), str(k)) for n, k in found.get("components", {}).items())),
            at=float(found["at"]),
            file=file,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
