"""Check that what is declared by name is used by something."""

from __future__ import annotations

from greenroom import actor_environments
from greenroom.checks.model import Finding, Severity
from greenroom.components import ProjectSource
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts
    from greenroom.components import Stage

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Finding]:
    """Yield the environments, indexes and stages that nothing uses."""
    yield from _environments(facts)
    yield from _indexes(facts)
    for stage in facts.declaration.stages:
        yield from _stage(facts, stage)


def _environments(facts: Facts) -> Iterator[Finding]:
    """Yield shared environments that no component names."""
    try:
        raw = actor_environments.load(facts.declaration.file)
        declared = raw.section("environments")
    except actor_environments.Fault:  # it was read a moment ago: somebody is writing it
        return
    named = {name for value in raw.table.values() for name in _values(value, "environment")}
    for name in declared:
        if name not in named:
            where = f"{raw.file}:{raw.line(f'environments.{name}')} [environments.{name}]"
            yield _unused(where, f"no component names the environment {name}")


def _indexes(facts: Facts) -> Iterator[Finding]:
    """Yield declared indexes that no environment uses."""
    used = {index.name for wanted in facts.wanted for index in wanted.spec.options.indexes}
    try:
        declared = actor_environments.load(facts.declaration.file).table.get("index")
    except actor_environments.Fault:
        return
    for table in declared if isinstance(declared, list) else ():
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and name not in used:
            yield _unused(
                f"{facts.declaration.file} [[index]] {name}", f"no environment uses the index {name}"
            )


def _values(value: object, key: str) -> Iterator[str]:
    """Yield every string that stands under a key, however deep, alone or in a list."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, key)
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        if name == key and isinstance(inner, str):
            yield inner
        elif name == key and isinstance(inner, list):
            yield from (item for item in inner if isinstance(item, str))
        yield from _values(inner, key)


def _stage(facts: Facts, stage: Stage) -> Iterator[Finding]:
    asked = {
        normalize(extra)
        for wanted in facts.wanted
        if isinstance(wanted.spec.source, ProjectSource)
        for extra in wanted.spec.source.extras
    }
    where = f"{facts.declaration.file} [stages.{stage.name}]"
    unused = [extra for extra in stage.extras if normalize(extra) not in asked]
    if unused and len(unused) == len(stage.extras):
        extras = ", ".join(unused)
        yield _unused(
            where, f"no environment is finished in stage {stage.name}: no component asks for {extras}"
        )
    elif unused:
        yield _unused(where, f"no component asks for {', '.join(unused)}")
    known = [wanted.selection for wanted in facts.wanted]
    if None not in known:
        names = {one.name for selection in known if selection for one in selection.distributions}
        for package in stage.late_packages:
            if normalize(package) not in names:
                yield _unused(where, f"the late package {package} is in no environment")


def _unused(where: str, what: str) -> Finding:
    return Finding(
        check="unused",
        severity=Severity.WARNING,
        what=what,
        where=where,
        todo="take it out, or correct the name",
    )
