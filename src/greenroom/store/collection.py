"""Remove what nobody needs any more: environments, and what only they used.

Never removed: what a declaration or an alias uses, what a running process uses, what is being
built, and what a newer greenroom built. A crash half-way leaves nothing that counts as an
environment: directories go to the trash in one step, and are removed from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from greenroom.errors import GreenroomError
from greenroom.store import candidates, locking, moving, sizes, sweeping, usage
from greenroom.store.sizes import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from greenroom.store.candidates import Candidate
    from greenroom.store.layout import Store
    from greenroom.store.sweeping import Swept

__all__ = ["Collected", "Item", "Kept", "Plan", "collect", "plan"]

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to remove, or removed."""

    kind: str
    """``environment``, ``bytecode``, ``wheel``, ``log``, ``build``, ``trash`` or ``root``."""
    name: str
    """Key or file name; for bytecode the number of files."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An environment that stays, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What collection would do now."""

    items: tuple[Item, ...]
    kept: tuple[Kept, ...]
    freed: int
    """Bytes that the disk gets back: files that others link too do not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What collection did."""

    items: tuple[Item, ...]
    kept: tuple[Kept, ...]
    """Also what was to be removed and could not be, with the reason."""
    freed: int
    busy: bool
    """Whether builds were running, so that bytecode, wheels and leftovers of builds stayed."""


def plan(
    store: Store, *, keep_days: float | None = None, max_size: int | None = None, now: float | None = None
) -> Plan:
    """Say what collection would remove, least recently used first.

    Without a limit it is every environment that is not needed.

    :param keep_days: what was used in the last so many days stays, whatever else is said.
    :param max_size: stop when the store (each file counted once) is not larger than so many bytes.
    :param now: seconds since the epoch; for tests.
    :raises StoreFailed: the store cannot be listed.
    :raises LocksUnsupported: the file system's locks do not work.
    """
    now = time.time() if now is None else now
    chosen, kept = _choose(store, keep_days=keep_days, max_size=max_size, now=now)
    ledger = Ledger()
    for candidate in chosen:
        ledger.add_tree(store.environment(candidate.key))
    gone = {candidate.key for candidate in chosen}
    swept = sweeping.plan(store, ledger, gone=gone, now=now)
    return Plan(
        items=(*map(_item, chosen), *map(_swept, swept)),
        kept=tuple(Kept(key=item.key, reason=item.reason) for item in kept),
        freed=ledger.freed,
    )


def collect(
    store: Store, *, keep_days: float | None = None, max_size: int | None = None, now: float | None = None
) -> Collected:
    """Remove what :func:`plan` names, looking again at each environment under its locks.

    :raises StoreFailed: the store cannot be listed or written.
    :raises LocksUnsupported: the file system's locks do not work.
    """
    now = time.time() if now is None else now
    chosen, kept = _choose(store, keep_days=keep_days, max_size=max_size, now=now)
    removed, freed = [], 0
    stays = [Kept(key=item.key, reason=item.reason) for item in kept]
    for candidate in chosen:
        ledger = Ledger()  # one for each: removing one changes what the next one frees
        reason = _remove(store, candidate, ledger)
        if reason:
            stays.append(Kept(key=candidate.key, reason=reason))
        else:
            removed.append(candidate)
            freed += ledger.freed
    with locking.alone(store.locks) as alone:
        swept, more = sweeping.sweep(store, now=now, shared=alone)
    return Collected(
        items=(*map(_item, removed), *map(_swept, swept)),
        kept=tuple(stays),
        freed=freed + more,
        busy=not alone,
    )


def _choose(
    store: Store, *, keep_days: float | None, max_size: int | None, now: float
) -> tuple[list[Candidate], list[Candidate]]:
    """Return what is to be removed, least recently used first, and what stays."""
    everything = candidates.examine(store, now)
    kept = [item for item in everything if item.kept]
    free = sorted((item for item in everything if not item.kept), key=lambda item: item.used_at)
    if keep_days is not None:
        recent = [item for item in free if item.complete and now - min(item.used_at, now) < keep_days * _DAY]
        kept += [candidates.keep(item, f"used in the last {keep_days:g} days") for item in recent]
        free = [item for item in free if item not in recent]
    if max_size is not None:
        free, fitting = _beyond(store, everything, free, max_size)
        kept += [candidates.keep(item, "the store is small enough") for item in fitting]
    return free, kept


def _beyond(
    store: Store, everything: Sequence[Candidate], free: list[Candidate], max_size: int
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the first of ``free`` whose removal makes the store small enough, and the others."""
    tables = {item.key: sizes.inodes(store.environment(item.key)) for item in everything}
    users: dict[tuple[int, int], int] = {}
    bytes_: dict[tuple[int, int], int] = {}
    for table in tables.values():
        for inode, size in table.items():
            users[inode] = users.get(inode, 0) + 1
            bytes_[inode] = size
    total = sum(bytes_.values()) + sum(sizes.inodes(store.wheels).values())
    for count, item in enumerate(free):
        if total <= max_size and item.complete:
            return free[:count], free[count:]
        for inode in tables[item.key]:
            users[inode] -= 1
            total -= 0 if users[inode] else bytes_[inode]
    return free, []


def _remove(store: Store, candidate: Candidate, ledger: Ledger) -> str:
    """Remove an environment when nobody uses it now; else say why it stays."""
    key = candidate.key
    try:
        with locking.key_alone(store.lock(key)) as mine, usage.unleased(store.record(key)) as free:
            if not mine:
                return "is being built"
            if not free:
                return "in use"
            root = store.environment(key)
            ledger.add_tree(root)
            trashed = moving.to_trash(store, root)
        moving.remove(trashed)
    except FileNotFoundError:
        return "was removed by another collection"
    except OSError as error:
        return f"cannot be removed: {error.strerror}"
    except GreenroomError as error:
        return str(error)
    return ""


def _item(candidate: Candidate) -> Item:
    return Item(kind="environment", name=candidate.key, reason=candidate.reason)


def _swept(swept: Swept) -> Item:
    return Item(kind=swept.kind, name=swept.name, reason=swept.reason)
