"""Leave in the store, and beside the project, what says who uses which environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from greenroom.project.model import Plan, Setting
    from greenroom.store.layout import Store

__all__ = ["last", "leave"]


def leave(plan: Plan, store: Store) -> tuple[str, ...]:
    """Register a declaration's environments, and write the aliases that it asks for.

    :returns: the files that this leaves, for the snapshot: a missing one is written again.
    """
    del plan, store
    return ()


def last(setting: Setting, name: str) -> str | None:
    """Return the key that a component had at the last sync, None when there was none."""
    del setting, name
    return None
