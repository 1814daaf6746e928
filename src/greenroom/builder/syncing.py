"""Build every missing environment, in parallel, and tell what happens on the caller's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.builder.events import Observer
    from greenroom.builder.work import Job, Result
    from greenroom.store.layout import Store

__all__ = ["sync"]


def sync(
    jobs: Sequence[Job],
    store: Store,
    *,
    observer: Observer,
    environ: Mapping[str, str],
    at_once: int | None = None,
    offline: bool = False,
) -> tuple[Result, ...]:
    """Build what the store lacks of ``jobs``; a failure of one does not stop the others.

    :param jobs: one for each key; their keys are unique.
    :param store: a writable store.
    :param observer: called on this thread with every event; when it raises, the run stops.
    :param environ: the caller's variables; only the documented list reaches a build.
    :param at_once: builds that run at the same time; None chooses by the number of processors.
    :param offline: use only what the store and uv's cache hold.
    :returns: one result for each job, in the order of ``jobs``.
    :raises InterruptedRunError: on Ctrl-C, when everything has stopped and every unfinished key
        has had its Failed event.
    """
    raise NotImplementedError
