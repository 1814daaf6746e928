"""Look at every environment of a store: may it be removed, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from greenroom.errors import RecordUnreadable
from greenroom.store import layout, locking, records, roots, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.store.layout import Store
    from greenroom.store.model import Record

__all__ = ["Candidate", "examine", "keep"]

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An environment, or what stands at the path of one."""

    key: str
    kept: bool
    reason: str
    used_at: float = 0.0
    """When it was last used, seconds since the epoch."""
    complete: bool = True
    """Whether it has a record that can be read."""


def examine(store: Store, now: float) -> tuple[Candidate, ...]:
    """Return what stands at each key's path, with the reason to keep or to remove it.

    :param now: seconds since the epoch.
    :raises StoreFailed: the store cannot be listed.
    :raises LocksUnsupported: the file system's locks do not work.
    """
    needed = {key: root.path for root in roots.read_all(store) if roots.alive(root, now) for key in root.keys}
    running = usage.processes(store)
    found = tuple(_examined(store, key, needed, running, now) for key in layout.keys(store))
    torn = roots.torn(store)
    if torn is None:
        return found
    # It may name any of them.
    reason = f"{torn} is torn and may need it: remove that file and sync its project again"
    return tuple(keep(one, reason) if one.complete and not one.kept else one for one in found)


def keep(candidate: Candidate, reason: str) -> Candidate:
    """Return a candidate that stays."""
    return replace(candidate, kept=True, reason=reason)


def _examined(
    store: Store,
    key: str,
    needed: Mapping[str, str],
    running: Mapping[str, tuple[str, ...]],
    now: float,
) -> Candidate:
    busy = _busy(store, key, running)
    if busy:
        return Candidate(key=key, kept=True, reason=busy)
    try:
        record = records.read(store, key) or records.read_partial(store, key)
    except RecordUnreadable as error:
        if error.newer:
            return Candidate(key=key, kept=True, reason=error.reason)
        return _unneeded(key, needed, reason="its record is damaged")
    if record is None:
        return _unneeded(key, {}, reason="left by a build that died")
    return _by_use(store, record, needed, now)


def _busy(store: Store, key: str, running: Mapping[str, tuple[str, ...]]) -> str:
    holder = locking.held(store.lock(key))
    if holder is not None:
        return f"is being built by {holder}"
    if key in running:
        return f"in use by {', '.join(running[key])}"
    with usage.unleased(store.record(key)) as free:
        return "" if free else "in use by a process that greenroom started"


def _by_use(store: Store, record: Record, needed: Mapping[str, str], now: float) -> Candidate:
    used_at = records.last_used(store, record)
    days = max(0.0, now - used_at) / _DAY  # a clock that jumped back makes nothing old
    if record.key in needed:
        return Candidate(key=record.key, kept=True, reason=f"used by {needed[record.key]}", used_at=used_at)
    return Candidate(key=record.key, kept=False, reason=f"nothing uses it, {_ago(days)}", used_at=used_at)


def _ago(days: float) -> str:
    whole = round(days)
    if whole == 0:
        return "last used today"
    return f"last used {whole} day{'' if whole == 1 else 's'} ago"


def _unneeded(key: str, needed: Mapping[str, str], *, reason: str) -> Candidate:
    if key in needed:
        return Candidate(key=key, kept=True, reason=f"used by {needed[key]}", complete=False)
    return Candidate(key=key, kept=False, reason=reason, complete=False)
