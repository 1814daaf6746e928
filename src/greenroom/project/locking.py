"""Bring the locks that greenroom itself writes (``greenroom.lock/``) up to date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import GreenroomError, LockOutdated
from greenroom.locks import generated
from greenroom.project.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.builder.events import Observer
    from greenroom.components import Component, EnvironmentSpec
    from greenroom.project.planning import Planner

__all__ = ["Outdated", "outdated", "refused", "write"]


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
    found: Iterable[Outdated],
    planner: Planner,
    environ: Mapping[str, str],
    *,
    observer: Observer,
    upgrade: bool = False,
    offline: bool = False,
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Write locks; the failure of one does not stop the others.

    :param upgrade: forget the pins that are there.
    :returns: the paths that were written, and what failed.
    """
    from greenroom.builder import relocking  # noqa: PLC0415 - starts processes: only to write a lock

    root = planner.setting.declaration.root
    written: list[str] = []
    problems: list[Problem] = []
    for lock in found:
        try:
            path = relocking.lock(
                lock.spec,
                root,
                planner.interpreter(lock.spec),
                observer=observer,
                environ=environ,
                component=lock.component,
                upgrade=upgrade,
                offline=offline,
            )
            written.append(path)
        except GreenroomError as error:
            problems.append(Problem(components=(lock.component,), error=error))
    return tuple(written), tuple(problems)


def _staleness(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> str | None:
    try:
        return generated.staleness(spec, root, environ)
    except GreenroomError as error:  # the inputs cannot be read: locking says so
        return error.what
