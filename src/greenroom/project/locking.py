"""Bring the locks that greenroom itself writes (``greenroom.lock/``) up to date."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

from greenroom.builder.events import Locked
from greenroom.errors import GreenroomError, LockOutdated
from greenroom.locks import generated
from greenroom.project.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from greenroom.builder.events import Event, Observer
    from greenroom.components import Component, EnvironmentSpec
    from greenroom.project.planning import Planner
    from greenroom.uv.process import Group

__all__ = ["Outdated", "outdated", "refused", "write"]

MOST = 8
"""Locks that are made at the same time at most: each uv resolves in parallel by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A lock that is missing or was made from something else than what is there now."""

    component: str
    """The first of the components that use it."""
    spec: EnvironmentSpec
    file: str
    """Absolute path of the lock."""
    reason: str
    """In words: what differs."""


def outdated(
    components: Iterable[Component], root: str, environ: Mapping[str, str], *, upgrade: bool = False
) -> tuple[Outdated, ...]:
    """Return which of greenroom's own locks are to be written, each once.

    :param root: the declaration's directory, in which ``greenroom.lock/`` stands.
    :param upgrade: all of them, whether they are up to date or not.
    """
    found: dict[str, Outdated] = {}
    for component in components:
        spec = component.spec
        if spec is None or not isinstance(spec.source, generated.LOCKED_HERE):
            continue
        file = generated.path(root, spec.lock_name)
        if file in found:
            continue
        reason = "upgrade" if upgrade else _staleness(spec, root, environ)
        if reason is not None:
            found[file] = Outdated(component=component.name, spec=spec, file=file, reason=reason)
    return tuple(found.values())


def refused(found: Iterable[Outdated]) -> tuple[Problem, ...]:
    """Return the problems that outdated locks are when none may be written (``--locked``)."""
    return tuple(
        Problem(components=(lock.component,), error=LockOutdated(lock.component, lock.file, lock.reason))
        for lock in found
    )


def write(
    found: Sequence[Outdated],
    planner: Planner,
    environ: Mapping[str, str],
    *,
    observer: Observer,
    upgrade: bool = False,
    offline: bool = False,
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Write locks, several at the same time; the failure of one does not stop the others.

    :param observer: called on this thread.
    :param upgrade: forget the pins that are there.
    :returns: the paths that were written, and what failed, in the order of ``found``.
    :raises KeyboardInterrupt: Ctrl-C, when every process has ended; locks that were not finished are
        as they were.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - heavy: only to write a lock

    from greenroom.uv.process import Group  # noqa: PLC0415 - starts processes

    events: SimpleQueue[Event] = SimpleQueue()
    ended: dict[str, Locked] = {}
    work = _Work(planner, environ, events, upgrade=upgrade, offline=offline)
    with Group() as group, ThreadPoolExecutor(min(MOST, os.cpu_count() or 1)) as pool:
        try:
            for lock in found:
                pool.submit(work.lock, lock, group)
            while len(ended) < len(found):
                event = events.get()
                if isinstance(event, Locked):
                    ended[event.file] = event
                observer(event)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            group.end()
            raise
    results = [(lock, ended[lock.file].error) for lock in found]
    return (
        tuple(lock.file for lock, error in results if error is None),
        tuple(
            Problem(components=(lock.component,), error=error) for lock, error in results if error is not None
        ),
    )


class _Work:
    """What threads do: one lock each, and exactly one end for each."""

    def __init__(
        self,
        planner: Planner,
        environ: Mapping[str, str],
        events: SimpleQueue[Event],
        *,
        upgrade: bool,
        offline: bool,
    ) -> None:
        self._planner = planner
        self._environ = environ
        self._events = events
        self._upgrade = upgrade
        self._offline = offline
        self._finding = threading.Lock()
        from greenroom.builder.resolutions import Resolutions  # noqa: PLC0415 - only to write a lock

        self._resolutions = Resolutions()

    def lock(self, lock: Outdated, group: Group) -> None:
        """Write one lock and say how it ended."""
        from greenroom.builder import relocking  # noqa: PLC0415 - heavy: only to write a lock

        began = time.monotonic()
        error: GreenroomError | None = None
        try:
            with self._finding:  # once for each request, and told by one
                interpreter = self._planner.interpreter(lock.spec)
            relocking.lock(
                lock.spec,
                self._planner.setting.declaration.root,
                interpreter,
                observer=self._events.put,
                environ=self._environ,
                component=lock.component,
                upgrade=self._upgrade,
                offline=self._offline,
                group=group,
                resolutions=self._resolutions,
            )
        except GreenroomError as raised:
            error = raised
        except BaseException as raised:  # our bug: said as such, and nobody waits for ever
            error = GreenroomError(f"{type(raised).__name__}: {raised}", where=lock.component)
            raise
        finally:
            now = time.monotonic()
            self._events.put(
                Locked(components=(lock.component,), file=lock.file, error=error, seconds=now - began, at=now)
            )


def _staleness(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> str | None:
    try:
        return generated.staleness(spec, root, environ)
    except GreenroomError as error:  # the inputs cannot be read: locking says so
        return error.what
