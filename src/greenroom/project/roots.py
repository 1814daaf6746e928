"""Leave in the store, and beside the project, what says who uses which environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.errors import AliasRefused
from greenroom.project.model import Problem
from greenroom.store import alias, roots
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.project.model import Plan, Setting
    from greenroom.store.layout import Store
    from greenroom.store.roots import Root

__all__ = ["last", "leave"]


def leave(plan: Plan, store: Store) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Register which environments a declaration uses, and write the aliases that it asks for.

    A component whose environment is not ready keeps the one it had: whoever takes the change back
    finds it, and «what changed» can be told.

    :param plan: of all components, with the states that a sync left.
    :returns: the files that this leaves, for the snapshot (a missing one is written again), and the
        components whose alias is refused because something else stands there.
    :raises StoreFailed: the operating system refuses.
    """
    declaration = plan.setting.declaration
    before = roots.find(store, declaration.file)
    components = _used(plan, before)
    wanted = {found.key for found in plan.environments}
    roots.register(store, declaration.file, {*components.values(), *wanted}, components)
    now = roots.find(store, declaration.file)
    left = () if now is None else (now.file,)
    written, refused = _aliases(plan, store, before)
    return (*left, *written), refused


def last(setting: Setting, name: str) -> str | None:
    """Return the key that a component had when it was last ready, None when it never was."""
    for store in setting.stores:
        root = roots.find(store, setting.declaration.file)
        key = None if root is None else dict(root.components).get(name)
        if key is not None:
            return key
    return None


def _used(plan: Plan, before: Root | None) -> dict[str, str]:
    """Return component -> the key that it has, or had when it was last ready."""
    kept = dict(before.components) if before is not None else {}
    declared = {found.name for found in plan.setting.declaration.components if found.spec is not None}
    used = {name: key for name, key in kept.items() if name in declared}
    for found in plan.environments:
        for name in found.components:
            if found.state == State.READY or name not in used:
                used[name] = found.key
    return used


def _aliases(plan: Plan, store: Store, before: Root | None) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    directory = plan.setting.declaration.store.aliases
    left: list[str] = []
    refused: list[Problem] = []
    launches = {found.name: found.launch for found in plan.setting.declaration.components}
    for name, path in _ready(plan).items():
        launch = launches[name]
        named = None if directory is None else f"{directory}/{alias.escaped(name)}"
        for place in filter(None, (named, launch.alias)):
            try:
                alias.write_at(place, path, launch.variables)
            except AliasRefused as error:  # the environment is ready all the same, and so are the others
                refused.append(Problem(components=(name,), error=error))
                continue
            roots.register(store, place, [path.rpartition("/")[2]])
            left.append(f"{place}/bin/python")
    if directory is None:
        return tuple(left), tuple(refused)
    gone = {name for name, _ in before.components} - launches.keys() if before is not None else set()
    for name in gone:
        alias.remove(f"{directory}/{alias.escaped(name)}")
    return tuple(left), tuple(refused)


def _ready(plan: Plan) -> Mapping[str, str]:
    return {
        name: found.store.environment(found.key)
        for found in plan.environments
        if found.state == State.READY
        for name in found.components
    }
