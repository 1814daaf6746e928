"""Build what one stage of an image can build, from only the files that exist there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from greenroom.builder import syncing
from greenroom.builder.work import Job
from greenroom.errors import RecordUnreadable
from greenroom.images import stages
from greenroom.images.model import Done, Report
from greenroom.project import locking, planning
from greenroom.project.model import Problem
from greenroom.project.syncing import leave
from greenroom.store import layout, links, records
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from greenroom.builder.events import Observer
    from greenroom.builder.work import Result
    from greenroom.images.stages import Assigned
    from greenroom.project.model import Plan, Planned
    from greenroom.store.layout import Store
    from greenroom.store.model import Record

__all__ = ["sync"]


def sync(  # noqa: PLR0913 - what a stage can be told, each by name
    path: str,
    environ: Mapping[str, str],
    *,
    stage: str,
    names: Iterable[str] = (),
    skip_extras: Iterable[str] = (),
    actors: bool = False,
    find_links: str | None = None,
    observer: Observer,
    offline: bool = False,
    at_once: int | None = None,
) -> Report:
    """Build the parts of all environments that belong to a stage; nothing else is written.

    :param path: the declaration.
    :param stage: ``deps``, a declared stage, or ``local``.
    :param names: of these components only; all when there are none.
    :param skip_extras: leave out components that declare one of these extras.
    :param actors: leave out servers.
    :param find_links: the directory of the wheels of late packages.
    :raises UnknownName, UnknownComponent, UnknownExtra: there is no such stage, component or extra.
    :raises NoStoreWritable: every store is read-only.
    :raises InterruptedRunError: Ctrl-C; nothing incomplete counts as ready.
    """
    setting = planning.setting(path, environ, watch=True)
    declaration = setting.declaration
    now = stages.position(declaration, stage)
    chosen = [
        component
        for component in planning.chosen(declaration, names)
        if component.spec is not None and (component.kind == "actor" or not actors)
    ]
    left_out = stages.skipped(
        chosen, skip_extras, stages.extras_declared(declaration.components), declaration.file
    )
    mine = {component.name for component in chosen} - left_out.keys()
    outdated = locking.outdated(
        [component for component in chosen if component.name in mine], declaration.root, environ
    )
    store = layout.building(setting.stores)
    plan = planning.Planner(setting, environ, watch=True).plan(declaration.components)
    order = stages.names(declaration)
    works = [
        _work(stages.assign(found, declaration.stages), order, now, store)
        for found in plan.environments
        if mine.intersection(found.components)
    ]
    jobs = [_job(work, find_links) for work in works if work.brings]
    results = syncing.sync(jobs, store, observer=observer, environ=environ, at_once=at_once, offline=offline)
    linked = _share(store, works, results)
    plan = _again(plan, results)
    aliases = leave(plan, environ)
    ended = {result.key: result for result in results}
    refused = locking.refused(outdated)
    unlocked = {name for problem in refused for name in problem.components}
    return Report(
        stage=stage,
        environments=tuple(_done(work, ended.get(work.key), mine, order, now) for work in works),
        skipped=tuple(left_out.items()),
        failed=tuple(_failures(results, mine)),
        problems=(*refused, *_problems(plan, mine - unlocked), *aliases),
        linked=linked,
        notes=plan.notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What this stage has to do with one environment."""

    assigned: Assigned
    known: Record | None
    """The partial record that is continued."""
    ready: bool
    brings: frozenset[str]
    """Nothing: the stage leaves it as it is."""
    pending: tuple[str, ...]
    """What is missing when the stage is done."""

    @property
    def planned(self) -> Planned:
        return self.assigned.planned

    @property
    def key(self) -> str:
        return self.assigned.planned.key


def _work(assigned: Assigned, order: tuple[str, ...], now: int, store: Store) -> _Work:
    planned, stage = assigned.planned, order[now]
    ready = planned.state == State.READY or (planned.state == State.STALE and stage != stages.LAST)
    known = None if ready else _partial(store, planned.key)
    missing = assigned.names if known is None else frozenset(known.pending)
    brings = missing & assigned.brought_by(stage)
    if ready or stages.absent(planned) or (known is None and now < order.index(assigned.begins)):
        brings = frozenset()
    elif known is None and (brings or stage == stages.LAST):
        brings |= assigned.brought_by(assigned.begins)  # that stage did not run
    pending = () if ready else tuple(sorted(missing - brings))
    return _Work(assigned=assigned, known=known, ready=ready, brings=brings, pending=pending)


def _job(work: _Work, find_links: str | None) -> Job:
    found = work.planned
    return Job(
        key=found.key,
        components=found.components,
        recipe=found.recipe,
        supply=found.supply,
        interpreter=found.interpreter,
        late_wheels=find_links,
        pending=work.pending,
        replaces=found.built_at,
    )


def _share(store: Store, works: Sequence[_Work], results: Sequence[Result]) -> int:
    """Link what environments that were built side by side have in common; uv links from its cache only."""
    built = {result.key for result in results if result.built}
    if len(built) < 2:
        return 0
    before = after = 0
    for work in works:
        record = _recorded(store, work.key) if work.key in built else None
        if record is None:
            continue
        wheels = {item.name: item.wheel for item in record.installed if item.wheel}
        only = None if work.known is None else work.brings
        before += record.linked
        root = store.environment(work.key)
        after += links.share(store, root, record.recipe, wheels, only=only, thorough=True).linked
    return max(0, after - before)


def _done(work: _Work, result: Result | None, mine: set[str], order: tuple[str, ...], now: int) -> Done:
    failed = result is not None and not result.ok
    missing = work.pending if not failed else tuple(sorted({*work.pending, *work.brings}))
    waits = {stage for stage in order if work.assigned.brought_by(stage) & set(missing)}
    return Done(
        key=work.key,
        components=tuple(name for name in work.planned.components if name in mine),
        action=_action(work, result),
        state=_state(work, result, missing),
        brought=tuple(sorted(work.brings)) if work.known is not None and not failed else (),
        pending=missing,
        waits_for=tuple(stage for stage in order if stage in waits),
        missed=tuple(stage for stage in order[:now] if stage in waits and order.index(stage) < now),
        seconds=0.0 if result is None else result.seconds,
    )


def _action(work: _Work, result: Result | None) -> str:
    if work.ready:
        return "ready"
    if result is None:
        return "unchanged" if work.known is not None else "later"
    if not result.ok:
        return "failed"
    return "built" if work.known is None else "continued"


def _state(work: _Work, result: Result | None, missing: tuple[str, ...]) -> str:
    if work.ready:
        return State.READY
    if work.known is None and (result is None or not result.ok):
        return State.MISSING
    return State.PARTIAL if missing else State.READY


def _partial(store: Store, key: str) -> Record | None:
    try:
        return records.read_partial(store, key)
    except RecordUnreadable:
        return None


def _recorded(store: Store, key: str) -> Record | None:
    try:
        return records.read(store, key) or records.read_partial(store, key)
    except RecordUnreadable:
        return None


def _again(plan: Plan, results: Iterable[Result]) -> Plan:
    keys = {result.key for result in results}
    environments = tuple(
        planning.examined(found, plan.setting.stores) if found.key in keys else found
        for found in plan.environments
    )
    return replace(plan, environments=environments)


def _failures(results: Iterable[Result], mine: set[str]) -> Iterable[Problem]:
    for result in results:
        if not result.ok and result.error is not None:
            names = tuple(name for name in result.components if name in mine)
            yield Problem(components=names, error=result.error)


def _problems(plan: Plan, mine: set[str]) -> Iterable[Problem]:
    for problem in plan.problems:
        names = tuple(name for name in problem.components if name in mine)
        if names:
            yield Problem(components=names, error=problem.error)
