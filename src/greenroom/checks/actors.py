"""Check that the module and the class of each actor exist: parsed, never imported."""

from __future__ import annotations

from sys import version_info

from greenroom.checks.model import Finding, Severity
from greenroom.checks.modules import Unparsable
from greenroom.checks.sources import modules_of
from greenroom.errors import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts
    from greenroom.checks.sources import Module, Sources
    from greenroom.components import Component

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the names of actors, and once what cannot be looked into here.

    A package that stands below no source root may be one of the environment's: whether it has the
    module is known when it is built.
    """
    actors = [component for component in facts.declaration.components if component.kind == "actor"]
    if not actors:
        return
    sources = facts.sources
    known = sources.packages()
    absent: dict[str, list[str]] = {}
    for actor in actors:
        package = actor.name.partition(".")[0]
        near = nearest(package, known)
        if package in known:
            yield from _actor(actor, sources, facts)
        elif near is not None:
            yield _misspelt(actor, package, near)
        else:
            absent.setdefault(package, []).append(actor.name)
    if absent:
        yield _unknown(absent, sources.roots)


def _actor(actor: Component, sources: Sources, facts: Facts) -> Iterator[Finding]:
    found: tuple[Module, tuple[str, ...]] | None = None
    for name, path in modules_of(actor.name):
        module = sources.find(name)
        if module is not None:
            found = module, path
            break
    if found is None or (len(found[1]) > 1 and not _may_hold(sources, *found)):
        yield _no_module(actor, sources)
        return
    module, path = found
    try:
        lacks = sources.lacks(module, path)
    except Unparsable as error:
        yield _unparsable(actor, error, facts)
        return
    if lacks is not None:
        yield _no_class(actor, module, path, lacks, sources)


def _may_hold(sources: Sources, module: Module, path: tuple[str, ...]) -> bool:
    """Tell whether a dotted rest can be a class in a class: else the module itself is missing."""
    try:
        return sources.lacks(module, path[:1]) is None
    except Unparsable:
        return True


def _no_module(actor: Component, sources: Sources) -> Finding:
    name = actor.name.rpartition(".")[0]
    near = nearest(name, sources.neighbours(name))
    return Finding(
        check="actors",
        severity=Severity.ERROR,
        what=f"there is no module {name}",
        where=str(actor.origin),
        todo=f"did you mean {near!r}?" if near else f"looked below {', '.join(sources.roots)}",
        components=(actor.name,),
    )


def _no_class(
    actor: Component, module: Module, path: tuple[str, ...], lacks: str, sources: Sources
) -> Finding:
    name = ".".join(path)
    near = nearest(path[0], sources.classes(module)) if len(path) == 1 else None
    if lacks == "function":
        what = f"{name} in {module.file} is a function, and an actor is a class"
    else:
        what = f"{module.file} does not define a class {name}"
    return Finding(
        check="actors",
        severity=Severity.ERROR,
        what=what,
        where=str(actor.origin),
        todo=f"did you mean {near!r}?" if near else None,
        components=(actor.name,),
    )


def _unparsable(actor: Component, error: Unparsable, facts: Facts) -> Finding:
    """Say that a module cannot be parsed: a fault, unless its Python is newer than ours."""
    own = next((wanted for wanted in facts.wanted if actor.name in wanted.names), None)
    python = own.interpreter if own is not None else facts.driver
    newer = python is not None and tuple(map(int, python.version.split(".")[:2])) > version_info[:2]
    what = f"cannot be parsed: {error.reason}"
    if newer:
        what = f"cannot be parsed with the older Python that runs greenroom: {error.reason}"
    return Finding(
        check="actors",
        severity=Severity.NOTE if newer else Severity.ERROR,
        what=what,
        where=f"{error.file}:{error.line}" if error.line else error.file,
        components=(actor.name,),
    )


def _misspelt(actor: Component, package: str, near: str) -> Finding:
    return Finding(
        check="actors",
        severity=Severity.WARNING,
        what=f"there is no package {package} below the source roots, but {near}",
        where=str(actor.origin),
        todo=f"did you mean {near!r}?",
        components=(actor.name,),
    )


def _unknown(absent: dict[str, list[str]], roots: tuple[str, ...]) -> Finding:
    names = tuple(name for members in absent.values() for name in members)
    few = len(names) == 1
    return Finding(
        check="actors",
        severity=Severity.NOTE,
        what=f"the class{'' if few else 'es'} of {len(names)} actor{'' if few else 's'} cannot be looked for:"
        f" {' and '.join(sorted(absent))} {'is' if len(absent) == 1 else 'are'} not below {', '.join(roots)}",
        todo="where the sources are, check again; an installed package is not looked into",
        components=names,
    )
