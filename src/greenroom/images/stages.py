"""Which stage of an image brings which part of an environment.

The order is ``deps``, the declared stages as declared, ``local``. Late packages belong to the stage
that owns them, sources that are installed in place to ``local``, everything else to ``deps``. An
environment of which no package is late, but whose extras only a declared stage can finish, is built
as a whole in that stage.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.actor_environments import normalized
from greenroom.components import ProjectSource, PylockSource
from greenroom.errors import GreenroomError, UnknownExtra, UnknownName
from greenroom.locks import uvlock
from greenroom.recipes.model import Build, Editable, Late

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.components import Component, Declaration, EnvironmentSpec, Stage
    from greenroom.project.model import Planned

__all__ = ["Assigned", "absent", "assign", "extras_declared", "extras_of", "names", "position", "skipped"]

FIRST, LAST = "deps", "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """Where the parts of one environment belong."""

    planned: Planned
    begins: str
    """The stage that builds what belongs to none in particular."""
    owners: tuple[tuple[str, str], ...]
    """Distribution -> the stage that brings it, for all that do not belong to ``begins``."""

    def brought_by(self, stage: str) -> frozenset[str]:
        """Return the names of the distributions that a stage brings."""
        if stage == self.begins:
            others = {name for name, owner in self.owners if owner != stage}
            return frozenset(self.names - others)
        return frozenset(name for name, owner in self.owners if owner == stage)

    @property
    def names(self) -> frozenset[str]:
        """Return the names of all distributions."""
        return frozenset(item.name for item in self.planned.recipe.distributions)

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the stages that bring something, in no order."""
        return tuple(dict.fromkeys((self.begins, *(owner for _, owner in self.owners))))


def names(declaration: Declaration) -> tuple[str, ...]:
    """Return all stages in the order of the layers."""
    return (FIRST, *(stage.name for stage in declaration.stages), LAST)


def position(declaration: Declaration, stage: str) -> int:
    """Return a stage's place in the order.

    :raises UnknownName: there is no such stage.
    """
    known = names(declaration)
    if stage not in known:
        raise UnknownName("stage", stage, known=known, where=declaration.file)
    return known.index(stage)


def assign(planned: Planned, stages: Iterable[Stage]) -> Assigned:
    """Return which stage brings which distribution of an environment."""
    declared = tuple(stages)
    own = _own_stage(planned.spec, declared)
    owners = []
    late = False
    for item in planned.recipe.distributions:
        if isinstance(item.content, Late):
            late = True
            owners.append((item.name, _owner(item.name, planned.spec, declared) or own))
        elif isinstance(item.content, Editable):
            owners.append((item.name, LAST))
    return Assigned(planned=planned, begins=FIRST if late else own, owners=tuple(owners))


def extras_of(spec: EnvironmentSpec | None) -> tuple[str, ...]:
    """Return the declared extras of a component, normalized."""
    source = None if spec is None else spec.source
    return tuple(map(normalized, source.extras)) if isinstance(source, ProjectSource | PylockSource) else ()


def skipped(
    components: Iterable[Component], extras: Iterable[str], known: Iterable[str], where: str
) -> Mapping[str, str]:
    """Return which components need one of some extras: name -> the first such extra.

    :param known: further extras that exist, though no component needs them.
    :raises UnknownExtra: there is no such extra.
    """
    declared = {component.name: extras_of(component.spec) for component in components}
    exist = {*map(normalized, known), *(extra for used in declared.values() for extra in used)}
    wanted = [normalized(extra) for extra in extras]
    for extra in wanted:
        if extra not in exist:
            raise UnknownExtra(extra, known=exist, of="any component", where=where)
    return {
        name: next(extra for extra in wanted if extra in used)
        for name, used in declared.items()
        if not set(wanted).isdisjoint(used)
    }


def extras_declared(components: Iterable[Component]) -> tuple[str, ...]:
    """Return every extra of the uv projects that components come from."""
    found: dict[str, None] = {}
    seen = set()
    for component in components:
        source = None if component.spec is None else component.spec.source
        if isinstance(source, ProjectSource) and source.directory not in seen:
            seen.add(source.directory)
            found.update(dict.fromkeys(_extras(source)))
    return tuple(found)


def absent(planned: Planned) -> tuple[str, ...]:
    """Return the directories that an environment's key needs to be told and that are not here."""
    found = []
    contents = {item.name: item.content for item in planned.recipe.distributions}
    for origin in planned.supply.origins:
        if origin.directory is None or not isinstance(contents.get(origin.name), Build):
            continue
        path = os.path.join(origin.directory.path, origin.directory.subdirectory or "")
        if not os.path.isdir(path):
            found.append(path)
    return tuple(found)


def _own_stage(spec: EnvironmentSpec, stages: tuple[Stage, ...]) -> str:
    needed = set(extras_of(spec))
    owning = [stage.name for stage in stages if not needed.isdisjoint(map(normalized, stage.extras))]
    return owning[-1] if owning else FIRST


def _owner(package: str, spec: EnvironmentSpec, stages: tuple[Stage, ...]) -> str | None:
    """Return the stage that owns a late package, the first of those that the environment needs."""
    needed = set(extras_of(spec))
    for stage in stages:
        if package in stage.late_packages and not needed.isdisjoint(map(normalized, stage.extras)):
            return stage.name
    return None


def _extras(source: ProjectSource) -> Iterable[str]:
    try:
        lock = uvlock.load(f"{source.directory}/uv.lock")
    except GreenroomError:  # said where it is read
        return ()
    local = ("editable", "virtual", "directory")
    members = [
        package["name"] for package in lock.packages if any(kind in package["source"] for kind in local)
    ]
    return [extra for member in members for extra in lock.extras(member)]
