"""Decide on a node how environments get there: they are there, are repaired, fetched, or built here."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from greenroom.components import StoreOptions
from greenroom.errors import GreenroomError, NoEnvironment, Problems, ProvisionFailed
from greenroom.ray import preflight
from greenroom.ray.model import Outcome
from greenroom.store import layout
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from greenroom.builder.events import Observer
    from greenroom.project.facade import Project
    from greenroom.store.layout import Store
    from greenroom.store.model import Finding

__all__ = ["look", "provide"]

Wanted = dict[str, Any]
"""``key``, ``component``, ``declaration`` and ``store``, as a runtime environment carries them."""


def provide(
    wanted: Sequence[Wanted], environ: Mapping[str, str], observer: Observer, *, prove: bool
) -> Iterator[dict[str, Any]]:
    """Make environments ready in this node's stores; those that are missing are built together.

    :param wanted: a ``component`` alone is looked up in the declaration that ``GREENROOM_PROJECT`` names.
    :param environ: the node's variables.
    :param prove: whether to prove again what is found, and to repair it.
    :returns: for each ``key``, ``outcome``, ``interpreter``, ``seconds``, ``python``, ``ray``, and
        ``error``, one line, empty when it is ready.
    """
    known: list[Wanted] = []
    for one in wanted:
        try:
            known.append(one if "key" in one else _by_name(str(one["component"]), environ))
        except GreenroomError as error:
            yield _failed(one, error)
    for one, outcome in _made(known, environ, observer, prove=prove):
        if isinstance(outcome, GreenroomError):
            yield _failed(one, outcome)
            continue
        store, key = _store(one), str(one["key"])
        state, reason = layout.state(store, key)
        wrong = "" if state == State.READY else reason or state
        said = {"outcome": outcome[0], "seconds": round(outcome[1], 3), "error": wrong}
        yield {**_about(store, key), **said, "interpreter": store.interpreter(key)}


def look(one: Wanted) -> dict[str, Any]:
    """Tell the state of one environment in this node's store; nothing is started or written."""
    key, store = str(one["key"]), _store(one)
    state, reason = layout.state(store, key)
    error = "" if state == State.READY else reason or state
    return {**_about(store, key), "outcome": state, "error": error}


_Outcome = tuple[str, float] | GreenroomError
"""A word of :class:`Outcome` with its seconds, or why there is none."""


def _made(
    wanted: Sequence[Wanted], environ: Mapping[str, str], observer: Observer, *, prove: bool
) -> Iterator[tuple[Wanted, _Outcome]]:
    missing: dict[tuple[str, str], list[Wanted]] = {}
    for one in wanted:
        state, _ = layout.state(_store(one), str(one["key"]))
        if state != State.READY:
            missing.setdefault((str(one["declaration"]), str(one["store"])), []).append(one)
        else:
            yield one, _found(one, environ, observer, prove=prove)
    for (declaration, store), group in missing.items():
        rest = []
        for one in group:
            seconds = _fetched(one, environ)
            if seconds is None:
                rest.append(one)
            else:
                yield one, (Outcome.FETCHED, seconds)
        if rest:
            yield from _built(declaration, store, rest, environ, observer)


def _fetched(one: Wanted, environ: Mapping[str, str]) -> float | None:
    """Fetch an environment from where archives are kept, if this node knows such a place.

    :returns: the seconds that it took; None: it is not there, or cannot be used here.
    """
    url = environ.get("GREENROOM_FROM")
    if not url:
        return None
    from greenroom.project import moving  # noqa: PLC0415 - few nodes fetch

    try:
        return moving.fetch_one(str(one["key"]), url, _store(one), environ).seconds
    except GreenroomError:
        return None


def _built(
    declaration: str, store: str, group: list[Wanted], environ: Mapping[str, str], observer: Observer
) -> Iterator[tuple[Wanted, _Outcome]]:
    """Build from the same locks; a build of the same key that runs already is waited for."""
    from greenroom.project import facade  # noqa: PLC0415 - heavy: only to build

    if not os.path.isfile(declaration):
        what = f"it is not in this node's store {store}, and its declaration {declaration} is not here"
        yield from ((one, ProvisionFailed(str(one["component"]), str(one["key"]), what)) for one in group)
        return
    project = facade.Project(declaration, {**environ, "GREENROOM_STORE": store})
    mine: list[Wanted] = []
    for one in group:
        wrong = _another(project, one)
        if wrong is None:
            mine.append(one)
        else:
            yield one, wrong
    if not mine:
        return
    report = project.try_sync([str(one["component"]) for one in mine], on_event=observer, locked=True)
    built = dict(report.built)
    failed = {name: problem.error for problem in report.failed for name in problem.components}
    failed |= {name: problem.error for problem in report.problems for name in problem.components}
    for one in mine:
        error = failed.get(str(one["component"]))
        word = Outcome.BUILT if one["key"] in built else Outcome.JOINED
        yield one, error if error is not None else (word, built.get(str(one["key"]), 0.0))


def _another(project: Project, one: Wanted) -> GreenroomError | None:
    """Return why this node would build something else under the component's name, None when it would not."""
    component, key = str(one["component"]), str(one["key"])
    try:
        found = project.environment(component)
    except GreenroomError as error:
        return error
    if found.key == key:
        return None
    if found.key is None and found.reason:
        return ProvisionFailed(component, key, found.reason)
    what = f"here the declaration gives {found.key or 'no environment'} for Python {found.version}"
    return ProvisionFailed(
        component, key, f"{what}: another checkout, or another interpreter than the driver's"
    )


def _found(one: Wanted, environ: Mapping[str, str], observer: Observer, *, prove: bool) -> _Outcome:
    if not prove:
        return Outcome.FOUND, 0.0
    began = time.monotonic()
    findings = _proven(_store(one), str(one["key"]))
    if not findings:
        return Outcome.FOUND, time.monotonic() - began
    error = _repaired(one, findings, environ, observer)
    return error if error is not None else (Outcome.REPAIRED, time.monotonic() - began)


def _proven(store: Store, key: str) -> tuple[Finding, ...]:
    from greenroom.store import verify  # noqa: PLC0415 - starts the interpreter
    from greenroom.uv.process import Group  # noqa: PLC0415

    with Group() as group:
        return verify.verify(store, key, group=group)


def _repaired(
    one: Wanted, findings: tuple[Finding, ...], environ: Mapping[str, str], observer: Observer
) -> GreenroomError | None:
    """Build a damaged environment anew, beside, and exchange it."""
    from greenroom.project import facade, upkeep  # noqa: PLC0415 - heavy: only to build

    component, key = str(one["component"]), str(one["key"])
    damaged = ProvisionFailed(component, key, f"it is damaged: {findings[0].text()}")
    if not os.path.isfile(str(one["declaration"])):
        return damaged
    setting = {**environ, "GREENROOM_STORE": str(one["store"])}
    try:
        plan = facade.Project(str(one["declaration"]), setting).plan([component])
        found = [upkeep.Verified(planned=each, findings=findings) for each in plan.environments]
        mine = [each for each in found if each.planned.key == key]
        results = upkeep.repair(mine, setting, observer=observer)
    except GreenroomError as error:
        return error
    return next((result.error for result in results if result.error is not None), None if mine else damaged)


def _by_name(component: str, environ: Mapping[str, str]) -> Wanted:
    """Look a bare name up: only a node that has the declaration can."""
    from greenroom.project import answering  # noqa: PLC0415 - rarely asked

    declaration = environ.get("GREENROOM_PROJECT")
    if not declaration:
        what = "a name alone needs GREENROOM_PROJECT on the node; greenroom.ray.runtime_env() gives the key"
        raise ProvisionFailed(component, "it", what)
    answer = answering.one(None, environ, component)
    if answer.key is None or answer.environment is None:
        raise NoEnvironment(component, answer.interpreter or "")
    store = os.path.dirname(answer.environment)
    return {"key": answer.key, "component": component, "declaration": declaration, "store": store}


def _store(one: Wanted) -> Store:
    return layout.stores(StoreOptions(), {"GREENROOM_STORE": str(one["store"])})[0]


def _about(store: Store, key: str) -> dict[str, Any]:
    record = layout.find([store], key)
    return {
        "key": key,
        "python": record[1].recipe.python.version if record else "",
        "ray": preflight.installed(store.environment(key)).get("ray", ""),
    }


def _failed(one: Wanted, error: GreenroomError) -> dict[str, Any]:
    text = "; ".join(error.lines()) if isinstance(error, Problems) else str(error)
    return {"key": one.get("key"), "outcome": Outcome.FAILED, "error": text}
