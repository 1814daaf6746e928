"""Put a new build in the place of a damaged environment, never repairing in place.

Its files are linked elsewhere, and a running process keeps what it started with: so the new one is
built beside and the directories are exchanged.
"""

from __future__ import annotations

import os

from greenroom.errors import EnvironmentInUse, RecordUnreadable
from greenroom.store import machine, moving, records, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.store.layout import Store

__all__ = ["put_in_place", "refuse_others", "refuse_when_used"]


def put_in_place(store: Store, private: str, key: str, *, force: bool = False) -> str:
    """Exchange an environment with the private directory, and remove the old one.

    To be called under the key's lock. From the exchange on no record stands at the path: the new
    environment counts when it was proven there.

    :param force: do it even while something runs from the old one.
    :returns: the environment's path.
    :raises EnvironmentInUse: something runs from it.
    :raises RecordUnreadable: a newer greenroom built it, or it is another kind of machine's.
    :raises StoreFailed: the operating system refuses; the old environment stands where it stood.
    """
    final = store.environment(key)
    if not os.path.lexists(final):
        return moving.into_place(store, private, key)
    refuse_others(store, key)
    with usage.unleased(store.record(key)) as free:
        if not force:
            refuse_when_used(store, key, leased=not free)
        moving.exchange(final, private)
    moving.discard(store, private)
    return final


def refuse_others(store: Store, key: str) -> None:
    """Raise when an environment is not for this greenroom to replace.

    Two kinds of machines that share a store would replace each other's environments for ever, and
    an older greenroom would throw away what a newer one built.

    :raises RecordUnreadable: a newer greenroom built it, or it is another kind of machine's.
    """
    try:
        record = records.read(store, key)
    except RecordUnreadable as error:
        if error.newer:
            raise
        return
    if record is not None and record.machine not in {"", machine.this_machine()}:
        raise RecordUnreadable(store.record(key), machine.foreign(record), foreign=True)


def refuse_when_used(store: Store, key: str, *, leased: bool = False) -> None:
    """Raise when a process of this machine uses an environment.

    :param leased: whether a lease on it was seen.
    :raises EnvironmentInUse: it is used.
    """
    users = usage.processes(store).get(key, ())
    if leased or users:
        raise EnvironmentInUse(store.environment(key), users)
