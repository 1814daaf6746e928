"""Remove what only removed environments and dead builds used: bytecode, wheels, logs, leftovers."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from greenroom.errors import RecordUnreadable
from greenroom.recipes.keys import wheel_key
from greenroom.recipes.model import Build
from greenroom.store import layout, locking, moving, records, roots, sizes
from greenroom.store.sizes import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from greenroom.store.layout import Store
    from greenroom.store.model import Record

__all__ = ["Swept", "plan", "sweep"]

_LOG_DAYS = 30
_BAD_DAYS = 90
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """Something that goes along with the environments."""

    kind: str
    name: str
    reason: str


def plan(store: Store, ledger: Ledger, *, gone: Collection[str], now: float) -> tuple[Swept, ...]:
    """Return what nothing would refer to any more.

    :param ledger: what would be removed already; the rest is added to it.
    :param gone: keys of environments that would be removed.
    """
    found = list(_unneeded(store, gone, now, shared=True))
    for _, path in found:
        ledger.add_tree(path)
    dead = [status for _, status in _dead_bytecode(store, ledger, now)]
    for status in dead:
        ledger.add(status)
    return (*_bytecode(len(dead)), *(swept for swept, _ in found))


def sweep(store: Store, *, now: float, shared: bool) -> tuple[tuple[Swept, ...], int]:
    """Remove what nothing refers to.

    :param shared: False leaves what running builds may be about to use.
    :returns: what was removed, and the bytes that the disk got back.
    :raises StoreFailed: something cannot be removed.
    """
    found, freed = list(_unneeded(store, (), now, shared=shared)), 0
    for _, path in found:
        freed += _removed(store, path)
    count = 0
    for path, status in list(_dead_bytecode(store, Ledger(), now)) if shared else ():
        with suppress(FileNotFoundError):
            os.unlink(path)
            ledger = Ledger()
            ledger.add(status)
            freed += ledger.freed
            count += 1
    return (*_bytecode(count), *(swept for swept, _ in found)), freed


def _unneeded(
    store: Store, gone: Collection[str], now: float, *, shared: bool
) -> Iterator[tuple[Swept, str]]:
    kept = list(_records(store, gone))
    if shared:
        yield from _wheels(store, kept)
        yield from _builds(store)
    yield from _trash(store)
    yield from _logs(store, kept, now)
    yield from _roots(store, now)


def _records(store: Store, gone: Collection[str]) -> Iterator[Record]:
    for key in layout.keys(store):
        if key not in gone:
            with suppress(RecordUnreadable):
                record = records.read(store, key) or records.read_partial(store, key)
                if record is not None:
                    yield record


def _dead_bytecode(store: Store, ledger: Ledger, now: float) -> Iterator[tuple[str, os.stat_result]]:
    """Yield compiled files that no environment links, and what killed compilers left."""
    for path, status in sizes.entries(store.bytecode):
        dead = path.endswith(".pyc") and ledger.others(status) == 1
        dead = dead or (path.endswith(".bad") and now - status.st_mtime > _BAD_DAYS * _DAY)
        if dead or ".pyc." in path or ".bad." in path:
            yield path, status


def _bytecode(count: int) -> list[Swept]:
    return [Swept(kind="bytecode", name=f"{count} files", reason="no environment uses them")] if count else []


def _wheels(store: Store, kept: list[Record]) -> list[tuple[Swept, str]]:
    needed = {
        wheel_key(item.content, record.recipe.python)
        for record in kept
        for item in record.recipe.distributions
        if isinstance(item.content, Build)
    }
    return [
        (Swept(kind="wheel", name=name, reason="no environment was built with it"), store.wheel(name))
        for name in _names(store.wheels)
        if name not in needed
    ]


def _builds(store: Store) -> list[tuple[Swept, str]]:
    """Return private directories of builds that died: nobody holds their keys' locks."""
    return [
        (Swept(kind="build", name=name, reason="left by a build that died"), f"{store.building}/{name}")
        for name in _names(store.building)
        if locking.held(store.lock(name.partition(".")[0])) is None
    ]


def _trash(store: Store) -> list[tuple[Swept, str]]:
    return [
        (Swept(kind="trash", name=name, reason="left by a removal that died"), f"{store.trash}/{name}")
        for name in _names(store.trash)
    ]


def _logs(store: Store, kept: list[Record], now: float) -> list[tuple[Swept, str]]:
    needed = {record.log for record in kept}
    found = []
    for name in _names(store.logs):
        path = f"{store.logs}/{name}"
        with suppress(OSError):
            if name not in needed and now - os.lstat(path).st_mtime > _LOG_DAYS * _DAY:
                found.append((Swept(kind="log", name=name, reason=f"older than {_LOG_DAYS} days"), path))
    return found


def _roots(store: Store, now: float) -> list[tuple[Swept, str]]:
    return [
        (Swept(kind="root", name=root.path, reason="is gone"), root.file)
        for root in roots.read_all(store)
        if not roots.alive(root, now)
    ]


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _removed(store: Store, path: str) -> int:
    ledger = Ledger()
    ledger.add_tree(path)
    if path.startswith(f"{store.trash}/"):
        moving.remove(path)
    else:
        moving.discard(store, path)
    return ledger.freed
