"""Look after what is built: prove it again, repair it, copy it, remove what nobody uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.components import StoreOptions
from greenroom.declaration import reading
from greenroom.errors import DeclarationNotFound, NoStoreWritable
from greenroom.project import launching
from greenroom.store import collection, editing, layout, verify
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.builder.events import Observer
    from greenroom.builder.work import Result
    from greenroom.project.model import Plan, Planned
    from greenroom.store.collection import Collected
    from greenroom.store.collection import Plan as CollectionPlan
    from greenroom.store.layout import Store
    from greenroom.store.model import Finding
    from greenroom.uv.process import Group

__all__ = ["Verified", "collect", "edit", "examine", "repair"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """One environment as it is now."""

    planned: Planned
    findings: tuple[Finding, ...]
    """Every difference from what was proven; empty: it is as it was."""
    statements: int | None = None
    """How many smoke statements ran; None: they were not asked for."""

    @property
    def changed(self) -> bool:
        """Whether something is not as it was proven: a failing smoke statement alone is no change."""
        return any(finding.kind != "smoke" for finding in self.findings)


def examine(
    plan: Plan, environ: Mapping[str, str], *, deep: bool = False, smoke: bool = False
) -> tuple[Verified, ...]:
    """Prove again what is built of a plan; what is missing has no findings and says so by its state.

    :param deep: compare the content of every file.
    :param smoke: run the environments' smoke statements too.
    """
    from greenroom.uv.process import Group  # noqa: PLC0415 - starts processes

    with Group() as group:
        return tuple(
            _examined(plan, found, environ, group, deep=deep, smoke=smoke) for found in plan.environments
        )


def repair(
    found: Iterable[Verified],
    environ: Mapping[str, str],
    *,
    observer: Observer,
    force: bool = False,
    offline: bool = False,
) -> tuple[Result, ...]:
    """Build those that were changed anew, beside, and exchange them; never in place.

    A failing smoke statement alone is not mended by the same content again, and so no reason for a build.

    :param force: also when something runs from them.
    :raises NoStoreWritable: one stands in a store that is read-only.
    """
    from greenroom.builder import syncing  # noqa: PLC0415 - starts processes
    from greenroom.builder.work import Job  # noqa: PLC0415

    by_store: dict[Store, list[Job]] = {}
    for one in found:
        planned = one.planned
        if not one.changed:
            continue
        if not planned.store.writable:
            raise NoStoreWritable([planned.store.path])
        job = Job(
            key=planned.key,
            components=planned.components,
            recipe=planned.recipe,
            supply=planned.supply,
            interpreter=planned.interpreter,
            replaces=planned.built_at,
            force=force,
        )
        by_store.setdefault(planned.store, []).append(job)
    results: list[Result] = []
    for store, jobs in by_store.items():
        results += syncing.sync(jobs, store, observer=observer, environ=environ, offline=offline)
    return tuple(results)


def edit(plan: Plan, name: str, directory: str) -> str:
    """Copy a component's environment to a writable place.

    :param plan: of this component; its environment is ready.
    :returns: the copy's path.
    :raises CopyRefused: the directory cannot take it.
    """
    found = next(each for each in plan.environments if name in each.components)
    return editing.copy(found.store, found.key, directory, name=name)


def collect(
    start: str | None,
    environ: Mapping[str, str],
    *,
    keep_days: float | None,
    max_size: int | None,
    dry_run: bool,
) -> tuple[tuple[Store, CollectionPlan | Collected], ...]:
    """Remove what nothing uses from every store that can be written; no declaration is needed.

    :raises Problems: a declaration is there and has errors.
    :raises NoStoreWritable: none can be written.
    """
    try:
        options = reading.read(reading.find_declaration(start, environ), environ).store
    except DeclarationNotFound:
        options = StoreOptions()
    found = layout.stores(options, environ)
    work = collection.plan if dry_run else collection.collect
    stores = [store for store in found if store.writable]
    if not stores:
        raise NoStoreWritable(store.path for store in found)
    return tuple((store, work(store, keep_days=keep_days, max_size=max_size)) for store in stores)


def _examined(
    plan: Plan, found: Planned, environ: Mapping[str, str], group: Group, *, deep: bool, smoke: bool
) -> Verified:
    if found.state == State.MISSING:
        return Verified(planned=found, findings=())
    launch = plan.component(found.components[0]).launch
    block = launching.variables(
        environ, environment=found.store.environment(found.key), declared=launch.variables
    )
    # As declared now, by everybody who uses it: statements are not in the key, and no reason for a build.
    specs = [plan.component(name).spec for name in found.components]
    statements = tuple(dict.fromkeys(each for spec in specs if spec for each in spec.options.smoke))
    findings = verify.verify(
        found.store,
        found.key,
        group=group,
        deep=deep,
        smoke=block if smoke else None,
        statements=statements,
    )
    return Verified(planned=found, findings=findings, statements=len(statements) if smoke else None)
