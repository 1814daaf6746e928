"""Works of the store, killed at every step: ``python -m tests.store.steps WORK DIRECTORY CACHE``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.environments import Workshop
from tests.support.killing import killed_at_every_step
from tests.support.storing import KEY, record_of

from greenroom.recipes import keys
from greenroom.store import alias, collection, layout, locking, moving, records, roots
from greenroom.store.layout import Store
from greenroom.store.model import State
from greenroom.store.verify import verify
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST = 3


def fresh(workshop: Workshop) -> Workshop:
    """Return the workshop with a group of the calling process's own."""
    return replace(workshop, group=Group())


def committing(workshop: Workshop) -> tuple[Callable[[], object], Callable[[int], object]]:
    made = workshop.wheel("alpha", scripts={"alpha": "alpha:main"}, files={"alpha/code.py": "X = 1\n"})
    recipe = workshop.recipe(made, bytecode=True)
    key = keys.key(recipe)
    template = workshop.private(key, made)
    spare = f"{workshop.directory}/template"
    os.rename(template, spare)

    def act() -> None:
        here = fresh(workshop)
        private = f"{here.store.building}/{key}.aaaaaa"
        with here.group, locking.hold(here.store.lock(key)):
            if layout.state(here.store, key)[0] == State.READY:
                return
            moving.clear_leftovers(here.store, key)
            shutil.copytree(spare, private, symlinks=True)
            here.commit(private, recipe)

    def check(step: int) -> None:
        here = fresh(workshop)
        with here.group:
            assert locking.held(here.store.lock(key)) is None, step
            state, reason = layout.state(here.store, key)
            if state == State.READY:
                assert verify(here.store, key, group=here.group, deep=True) == (), step
                moving.discard(here.store, here.store.environment(key))
            else:
                assert state == State.MISSING, (step, state, reason)

    return act, check


def recording(workshop: Workshop) -> tuple[Callable[[], object], Callable[[int], object]]:
    store = workshop.store
    layout.prepare(store)
    os.makedirs(store.environment(KEY))
    record = record_of(KEY)

    def check(step: int) -> None:
        found = records.read(store, KEY)
        assert found in (None, record), step
        for path in Path(store.environment(KEY)).iterdir():
            path.unlink()

    return lambda: records.write(store, record), check


def collecting(workshop: Workshop) -> tuple[Callable[[], object], Callable[[int], object]]:
    store = workshop.store
    unneeded = workshop.environment(workshop.wheel("alpha"), bytecode=True, link_mode="copy")
    needed = workshop.environment(workshop.wheel("beta"), bytecode=True, link_mode="copy")
    roots.register(store, store.path, [needed.record.key])
    spare = f"{workshop.directory}/spare"
    shutil.copytree(unneeded.path, spare, symlinks=True)

    def check(step: int) -> None:
        here = fresh(workshop)
        with here.group:
            assert verify(here.store, needed.record.key, group=here.group, deep=True) == (), step
            state, reason = layout.state(store, unneeded.record.key)
            if state == State.READY:
                assert verify(here.store, unneeded.record.key, group=here.group) == (), step
            else:
                assert (state, reason) == (State.MISSING, "not built"), step
                assert not os.path.lexists(unneeded.path), step
                shutil.copytree(spare, unneeded.path, symlinks=True)

    return lambda: collection.collect(store), check


def repairing(workshop: Workshop) -> tuple[Callable[[], object], Callable[[int], object]]:
    made = workshop.wheel("alpha")
    done = workshop.environment(made)
    key, store = done.record.key, workshop.store
    template = workshop.private(key, made)
    spare = f"{workshop.directory}/spare"
    os.rename(template, spare)

    def act() -> None:
        here = fresh(workshop)
        private = f"{store.building}/{key}.aaaaaa"
        with here.group, locking.hold(store.lock(key)):
            moving.clear_leftovers(store, key)
            shutil.copytree(spare, private, symlinks=True)
            here.commit(private, done.record.recipe, replace=True)

    def check(step: int) -> None:
        here = fresh(workshop)
        with here.group:
            state, reason = layout.state(store, key)
            assert state in {State.READY, State.MISSING}, (step, state, reason)
            if state == State.READY:
                assert verify(store, key, group=here.group, deep=True) == (), step

    return act, check


def aliasing(workshop: Workshop) -> tuple[Callable[[], object], Callable[[int], object]]:
    done = workshop.environment(workshop.wheel("alpha"))
    path = f"{workshop.directory}/aliases/x"
    other = f"{workshop.directory}/other"
    os.makedirs(f"{other}/bin")
    alias.write_at(path, other)

    def check(step: int) -> None:
        assert alias.target(path) in {other, done.path}, step
        if alias.target(path) == done.path:
            subprocess.run([f"{path}/bin/python", "-c", "import alpha"], check=True)
            alias.write_at(path, other)

    return lambda: alias.write_at(path, done.path), check


WORKS = {
    "commit": committing,
    "record": recording,
    "collect": collecting,
    "repair": repairing,
    "alias": aliasing,
}


def main(work: str, directory: str, cache: str) -> None:
    """Kill one work at each step, and let it end well at last."""
    store = Store(path=f"{directory}/store", writable=True)
    with Group() as group:
        workshop = Workshop(directory=Path(directory), store=store, uv_cache=Path(cache), group=group)
        act, check = WORKS[work](workshop)
    steps = killed_at_every_step(act, check)
    assert steps >= LEAST, steps
    collection.collect(store)
    assert os.listdir(store.building) == os.listdir(store.trash) == []
    print(steps)  # noqa: T201 - told to the test
    for key in layout.keys(store):
        moving.discard(store, store.environment(key))


if __name__ == "__main__":
    main(*sys.argv[1:])
