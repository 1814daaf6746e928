"""Build what is missing: locks, then plan, then environments, then what others find them by."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from greenroom import snapshot
from greenroom.project import allowed, choices, locking, planning, remembering, roots
from greenroom.project.model import Plan, Problem, SyncReport
from greenroom.store import layout
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from greenroom.builder.events import Observer
    from greenroom.builder.work import Result
    from greenroom.project.model import Planned
    from greenroom.store.archive.unpacking import Unpacked

__all__ = ["leave", "lock", "sync"]


def lock(
    path: str,
    environ: Mapping[str, str],
    *,
    names: Iterable[str] = (),
    observer: Observer,
    upgrade: bool = False,
    offline: bool = False,
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Write the locks in ``greenroom.lock/`` that are missing or out of date.

    :param names: of these components only.
    :param upgrade: all of them, without regard to the pins that are there.
    :returns: the locks that were written, and what failed.
    """
    setting = planning.setting(path, environ)
    components = planning.chosen(setting.declaration, names)
    found = locking.outdated(components, setting.declaration.root, environ, upgrade=upgrade)
    planner = planning.Planner(setting, environ)
    return locking.write(found, planner, environ, observer=observer, upgrade=upgrade, offline=offline)


def sync(  # noqa: PLR0913 - what a sync can be told, each by name
    path: str,
    environ: Mapping[str, str],
    *,
    names: Iterable[str] = (),
    observer: Observer,
    locked: bool = False,
    offline: bool = False,
    at_once: int | None = None,
    source: str | None = None,
) -> SyncReport:
    """Make the environments of some components ready; a failure of one does not stop the others.

    :param path: the declaration.
    :param names: of these components only; all when there are none.
    :param locked: a lock that would have to be written is a problem instead.
    :param offline: nothing is fetched.
    :param at_once: builds that run at the same time; None chooses.
    :param source: where archives are kept: what is there is fetched, only the rest is built. None:
        ``GREENROOM_FROM``, if it is set.
    :raises PlaceRefused: ``source`` names no such place.
    :raises InterruptedRunError: Ctrl-C; nothing incomplete counts as ready.
    """
    wanted = tuple(names)
    setting = planning.setting(path, environ, watch=True)
    chosen = planning.chosen(setting.declaration, wanted)
    allowed.check(chosen, environ)
    found = locking.outdated(chosen, setting.declaration.root, environ)
    written: tuple[str, ...] = ()
    failed_locks: tuple[Problem, ...] = ()
    if found and locked:
        failed_locks = locking.refused(found)
    elif found:
        planner = planning.Planner(setting, environ)
        written, failed_locks = locking.write(found, planner, environ, observer=observer, offline=offline)
        setting = planning.setting(path, environ, watch=True)
    plan = planning.Planner(setting, environ, watch=True).plan(setting.declaration.components)
    mine = {component.name for component in chosen}
    fetched: tuple[Unpacked, ...] = ()
    source = source or environ.get("GREENROOM_FROM")
    if source:
        fetched = _fetch(plan, mine, source, environ, observer)
        plan = _again(plan, [got.key for got in fetched])
    results = _build(plan, mine, environ, observer=observer, offline=offline, at_once=at_once)
    plan = _again(plan, [result.key for result in results])
    refused = [problem for problem in leave(plan, environ) if mine.issuperset(problem.components)]
    report = _report(plan, mine, results, failed_locks, written)
    report = replace(report, problems=(*report.problems, *refused))
    return _with_fetched(report, fetched)


def _build(
    plan: Plan,
    names: set[str],
    environ: Mapping[str, str],
    *,
    observer: Observer,
    offline: bool,
    at_once: int | None,
) -> tuple[Result, ...]:
    jobs = [found for found in plan.missing if names.intersection(found.components)]
    if not jobs:
        return ()
    from greenroom.builder import syncing  # noqa: PLC0415 - starts processes: only to build
    from greenroom.builder.work import Job  # noqa: PLC0415

    return syncing.sync(
        [
            Job(
                key=found.key,
                components=found.components,
                recipe=found.recipe,
                supply=found.supply,
                interpreter=found.interpreter,
                replaces=found.built_at,
            )
            for found in jobs
        ],
        layout.building(plan.setting.stores),
        observer=observer,
        environ=environ,
        at_once=at_once,
        offline=offline,
    )


def _fetch(
    plan: Plan, names: set[str], source: str, environ: Mapping[str, str], observer: Observer
) -> tuple[Unpacked, ...]:
    from greenroom.project import moving  # noqa: PLC0415 - few syncs fetch

    missing = [found for found in plan.missing if names.intersection(found.components)]
    return moving.fetch(missing, source, layout.building(plan.setting.stores), environ, observer)


def _with_fetched(report: SyncReport, fetched: tuple[Unpacked, ...]) -> SyncReport:
    """Return the report with what was fetched as a kind of its own, not as what was there."""
    keys = {got.key: got.seconds for got in fetched if not got.found}
    ready = tuple(key for key in report.ready if key not in keys)
    return replace(report, ready=ready, fetched=tuple(keys.items()))


def _again(plan: Plan, changed: Collection[str]) -> Plan:
    """Return the plan with the states that some keys have now."""
    environments = tuple(
        planning.examined(found, plan.setting.stores) if found.key in changed else found
        for found in plan.environments
    )
    return replace(plan, environments=environments)


def leave(plan: Plan, environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """Leave what others find the environments by: roots, aliases, choices and the snapshot.

    :returns: the components whose alias is refused.
    """
    building = next((store for store in plan.setting.stores if store.writable), None)
    outputs: tuple[str, ...] = ()
    refused: tuple[Problem, ...] = ()
    if building is not None:
        choices.remember(building, dict(plan.choices))
        outputs, refused = roots.leave(plan, building)
    if remembering.remember(plan, environ, outputs=None if refused else outputs):
        # Locks that were just written are as young as the snapshot: look once more.
        memory = snapshot.load(plan.setting.declaration.file, environ)
        if memory is not None and memory.answers() is not None:
            memory.refresh()
    return refused


def _report(
    plan: Plan,
    names: set[str],
    results: tuple[Result, ...],
    failed_locks: tuple[Problem, ...],
    written: tuple[str, ...],
) -> SyncReport:
    ended = {result.key: result for result in results}
    unlocked = {name for problem in failed_locks for name in problem.components}
    mine = [found for found in plan.environments if names.intersection(found.components)]
    return SyncReport(
        ready=tuple(found.key for found in mine if found.key not in ended),
        built=tuple((result.key, result.seconds) for result in results if result.ok and result.built),
        joined=tuple(result.key for result in results if result.ok and not result.built),
        failed=tuple(
            Problem(components=_of(result.components, names), error=result.error)
            for result in results
            if not result.ok and result.error is not None
        ),
        problems=(*failed_locks, *_others(plan.problems, names - unlocked)),
        locked=written,
        components=tuple((name, found.key) for found in mine for name in _ready(found, names)),
    )


def _ready(found: Planned, names: set[str]) -> tuple[str, ...]:
    return _of(found.components, names) if found.state == State.READY else ()


def _others(problems: Iterable[Problem], names: set[str]) -> tuple[Problem, ...]:
    """Return the problems of some components; those whose lock failed have said enough."""
    return tuple(
        Problem(components=_of(problem.components, names), error=problem.error)
        for problem in problems
        if names.intersection(problem.components)
    )


def _of(components: tuple[str, ...], names: set[str]) -> tuple[str, ...]:
    return tuple(name for name in components if name in names)
