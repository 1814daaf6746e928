"""Leave in the store, and beside the project, what says who uses which environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.store import roots
from greenroom.store.model import State

if TYPE_CHECKING:
    from greenroom.project.model import Plan, Setting
    from greenroom.store.layout import Store

__all__ = ["last", "leave"]


def leave(plan: Plan, store: Store) -> tuple[str, ...]:
    """Register which environments a declaration uses, so that collection keeps them.

    A component whose environment is not ready keeps the one it had: whoever takes the change back
    finds it, and «what changed» can be told.

    :returns: the files that this leaves, for the snapshot: a missing one is written again.
    """
    declaration = plan.setting.declaration
    now = {name: found.key for found in plan.environments for name in found.components}
    ready = {name for found in plan.environments if found.state == State.READY for name in found.components}
    before = roots.find(store, declaration.file)
    kept = dict(before.components) if before is not None else {}
    declared = {component.name for component in declaration.components if component.spec is not None}
    used = {
        name: now[name] if name in ready else kept.get(name, now.get(name))
        for name in sorted(declared)
        if name in now or name in kept
    }
    components = {name: key for name, key in used.items() if key is not None}
    roots.register(store, declaration.file, {*components.values(), *now.values()}, components)
    left = roots.find(store, declaration.file)
    return () if left is None else (left.file,)


def last(setting: Setting, name: str) -> str | None:
    """Return the key that a component had when it was last ready, None when it never was."""
    for store in setting.stores:
        root = roots.find(store, setting.declaration.file)
        key = None if root is None else dict(root.components).get(name)
        if key is not None:
            return key
    return None
