"""Compare a frozen image with the declaration, locks and sources that are there now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import RecordUnreadable
from greenroom.images import frozen
from greenroom.store import layout
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.builder.events import Observer
    from greenroom.images.frozen import Frozen
    from greenroom.project.model import Plan, SyncReport
    from greenroom.store.layout import Store
    from greenroom.store.model import Finding

__all__ = ["Drift", "Verdict", "rebuild", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Components that ask for something else than what the image holds, or whose part is damaged."""

    components: tuple[str, ...]
    key: str | None
    """What the image holds for them; None when it holds nothing."""
    wanted: str | None
    """What they ask for now; None when it cannot be told."""
    kind: str
    """``changed``, ``new``, ``missing``, ``damaged`` or ``problem``; ``metadata``: only the metadata of
    editable sources are others, and what is there is launched all the same."""
    differences: tuple[str, ...]
    """In words: ``numpy 1.26 → 2.0``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What comparing gave."""

    frozen: Frozen
    policy: str
    """``error``, ``warn`` or ``rebuild``."""
    drift: tuple[Drift, ...]

    @property
    def stale(self) -> tuple[str, ...]:
        """Return the components whose environments another build would make right."""
        return tuple(name for found in self.hard if found.wanted is not None for name in found.components)

    @property
    def hard(self) -> tuple[Drift, ...]:
        """Return the differences because of which components do not run as they are declared."""
        return tuple(found for found in self.drift if found.kind != "metadata")


def verify(
    path: str, environ: Mapping[str, str], *, deep: bool = False, policy: str | None = None
) -> Verdict:
    """Compare. Where no file that decided something changed, no key is told anew.

    :param path: the declaration.
    :param deep: prove every environment again, the content of every file included.
    :param policy: instead of the declaration's ``on-drift``.
    :raises ImageNotFrozen: there is no fingerprint.
    :raises Problems: the declaration has errors.
    """
    from greenroom.declaration import reading  # noqa: PLC0415 - for the stores, after a cheap look

    declaration = reading.read(path, environ)
    stores = layout.stores(declaration.store, environ)
    known = frozen.read(stores)
    said = policy or declaration.on_drift
    drift = list(_standing(known, stores))
    if deep or not _unchanged(known, path, environ):
        plan = _plan(path, environ)
        drift = _merged([*_compared(known, plan), *drift])
        if deep:
            drift += _proven(plan, environ)
    return Verdict(frozen=known, policy=said, drift=tuple(drift))


def rebuild(verdict: Verdict, path: str, environ: Mapping[str, str], observer: Observer) -> SyncReport:
    """Build what drifted in the first writable store, never in the image's.

    :raises NoStoreWritable: every store is read-only.
    """
    from greenroom.project import syncing  # noqa: PLC0415 - only to build

    return syncing.sync(path, environ, names=verdict.stale, observer=observer)


def _unchanged(known: Frozen, path: str, environ: Mapping[str, str]) -> bool:
    """Tell whether everything that decided is as it was: then the keys are, too."""
    from hashlib import sha256  # noqa: PLC0415 - beside what uses it

    if known.declaration != path:
        return False
    for name, value in known.variables:
        now = environ.get(name)
        if value != (None if now is None else sha256(now.encode()).hexdigest()):
            return False
    if any(_content(file) != digest for file, digest in known.inputs):
        return False
    return all(source.sha256 == frozen.digest(source) for source in known.sources)


def _content(path: str) -> str | None:
    from hashlib import sha256  # noqa: PLC0415 - beside what uses it

    try:
        with open(path, "rb") as file:
            return sha256(file.read()).hexdigest()
    except OSError:
        return None


def _standing(known: Frozen, stores: tuple[Store, ...]) -> Iterable[Drift]:
    """Yield what the image was frozen with and does not hold any more."""
    for found in known.environments:
        if found.state != State.READY:
            continue
        if layout.find(stores, found.key) is not None:
            continue
        states = [layout.state(store, found.key) for store in stores]
        state, reason = next((entry for entry in states if entry[0] != State.MISSING), states[0])
        kind = "damaged" if state == State.DAMAGED else "missing"
        yield Drift(
            components=found.components, key=found.key, wanted=found.key, kind=kind, differences=(reason,)
        )


def _plan(path: str, environ: Mapping[str, str]) -> Plan:
    from greenroom.project import planning  # noqa: PLC0415 - the full road is heavy

    setting = planning.setting(path, environ)
    return planning.Planner(setting, environ, ask_uv=False).plan(setting.declaration.components)


def _compared(known: Frozen, plan: Plan) -> Iterable[Drift]:
    before = {name: found for found in known.environments for name in found.components}
    for problem in plan.problems:
        yield Drift(
            components=problem.components,
            key=None,
            wanted=None,
            kind="problem",
            differences=(str(problem.error),),
        )
    for planned in plan.environments:
        groups: dict[str | None, list[str]] = {}
        for name in planned.components:
            held = before.get(name)
            groups.setdefault(None if held is None else held.key, []).append(name)
        for key, names in groups.items():
            if key == planned.key and planned.state == State.STALE:
                yield Drift(
                    components=tuple(names),
                    key=key,
                    wanted=key,
                    kind="metadata",
                    differences=(planned.reason,),
                )
            elif key != planned.key and planned.state != State.READY:
                yield Drift(
                    components=tuple(names),
                    key=key,
                    wanted=planned.key,
                    kind="new" if key is None else "changed",
                    differences=_differences(plan, key, planned.key),
                )


def _differences(plan: Plan, key: str | None, wanted: str) -> tuple[str, ...]:
    from greenroom.recipes.difference import difference  # noqa: PLC0415 - only where there is one
    from greenroom.store import records  # noqa: PLC0415

    if key is None:
        return ("the image was built without it",)
    new = next(found.recipe for found in plan.environments if found.key == wanted)
    for store in plan.setting.stores:
        try:
            record = records.read(store, key) or records.read_partial(store, key)
        except RecordUnreadable:
            continue
        if record is not None:
            return difference(record.recipe, new)
    return (f"{key} → {wanted}; what it was is not here to compare",)


def _proven(plan: Plan, environ: Mapping[str, str]) -> list[Drift]:
    from greenroom.project import upkeep  # noqa: PLC0415 - starts processes

    return [
        Drift(
            components=one.planned.components,
            key=one.planned.key,
            wanted=one.planned.key,
            kind="damaged",
            differences=tuple(_text(finding) for finding in one.findings),
        )
        for one in upkeep.examine(plan, environ, deep=True)
        if one.findings
    ]


def _text(finding: Finding) -> str:
    return finding.text()


def _merged(found: list[Drift]) -> list[Drift]:
    """Leave out what is said of a component twice: a changed one need not be whole, too."""
    seen: set[str] = set()
    kept = []
    for drift in found:
        if not seen.issuperset(drift.components):
            kept.append(drift)
            seen.update(drift.components)
    return kept
