"""The full road: from a declaration to keys and to what the stores hold of them.

Each environment is planned on its own, so that one broken component hides no other: what cannot be
told is a problem beside the rest.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from time import time_ns
from typing import TYPE_CHECKING, NamedTuple

from greenroom import snapshot
from greenroom.declaration import reading
from greenroom.errors import GreenroomError, LockMissing, NoStoreWritable, StaleLock, UnknownComponent
from greenroom.interpreters import discovery
from greenroom.locks import generated
from greenroom.locks import reading as locks
from greenroom.project import choices
from greenroom.project.model import Input, Plan, Planned, Problem, Setting
from greenroom.recipes import keys, local, making
from greenroom.store import layout
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.components import Component, Declaration, EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.recipes.model import Recipe, Supply
    from greenroom.store.layout import Store

__all__ = ["Planner", "chosen", "examined", "look", "merged", "setting"]

_YOUNG = 50_000_000
"""Nanoseconds: more than a tick of a kernel's clock, by which a file's time may be late."""


def setting(path: str, environ: Mapping[str, str], *, watch: bool = False) -> Setting:
    """Read a declaration and find its driver and stores.

    :param watch: whether to look at the declaration's files too, for a snapshot.
    :raises Problems: the declaration has errors, all of them at once.
    :raises PythonNotFound: there is no driver where one is named.
    :raises StorePathRefused: a store's path cannot be used.
    """
    began = time_ns()
    declaration = reading.read(path, environ)
    inputs = tuple(look(file) for file in declaration.files) if watch else ()
    if any(seen.mtime is not None and seen.mtime > began - _YOUNG for seen in inputs):
        # Written while it was read, perhaps: read it again, now that it was looked at before.
        declaration = reading.read(path, environ)
    named = environ.get("GREENROOM_DRIVER") or declaration.driver
    return Setting(
        declaration=declaration,
        driver=discovery.driver(declaration.driver, environ),
        launcher=os.path.abspath(os.path.expanduser(named)) if named else sys.executable,
        stores=layout.stores(declaration.store, environ),
        inputs=inputs,
        began=began,
    )


def chosen(declaration: Declaration, names: Iterable[str] = ()) -> tuple[Component, ...]:
    """Return the components of some names in the declaration's order; all when none is given.

    :raises UnknownComponent: a name is not declared.
    """
    wanted = set(names)
    known = {component.name for component in declaration.components}
    for name in sorted(wanted - known):
        raise UnknownComponent(name, known=known, declaration=declaration.file)
    return tuple(found for found in declaration.components if not wanted or found.name in wanted)


def look(path: str, *, content: bool = True) -> Input:
    """Return a file's stat, and its digest when the content counts, as they are now."""
    _, size, mtime, inode, sha256 = snapshot.look(path, content=content)
    return Input(path=path, size=size, mtime=mtime, inode=inode, sha256=sha256)


def merged(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Say a cause that several components share once, with all of their names."""
    found: dict[tuple[type, str], Problem] = {}
    for problem in problems:
        cause = (type(problem.error), problem.error.what)
        same = found.get(cause)
        names = problem.components if same is None else (*same.components, *problem.components)
        found[cause] = Problem(components=names, error=problem.error if same is None else same.error)
    return tuple(found.values())


def examined(found: Planned, stores: tuple[Store, ...]) -> Planned:
    """Return a planned environment with the state that it has now."""
    known = layout.find(stores, found.key)
    if known is not None:
        store, record = known
        changes = local.changes(record.metadata, found.supply.metadata)
        state = State.STALE if changes else State.READY
        return replace(found, state=state, reason="; ".join(changes), store=store, built_at=record.built_at)
    state, reason, store = _unready(stores, found.key)
    return replace(found, state=state, reason=reason, store=store, built_at=None)


class _Made(NamedTuple):
    """What one specification gives."""

    spec: EnvironmentSpec
    key: str
    recipe: Recipe
    supply: Supply
    interpreter: Interpreter


class Planner:
    """Make plans in one setting; interpreters and locks are looked up once.

    :param ask_uv: whether uv may be asked for an interpreter that is remembered nowhere; launching
        does not.
    :param watch: whether to look at every input before it is read, for a snapshot.
    """

    def __init__(
        self, found: Setting, environ: Mapping[str, str], *, ask_uv: bool = True, watch: bool = False
    ) -> None:
        self.setting = found
        self._environ = environ
        self._ask_uv = ask_uv
        self._watch = watch
        self._remembered = choices.remembered(found.stores)
        self._interpreters: dict[str | None, Interpreter | GreenroomError] = {}
        self._seen: dict[str, Input] = {}
        self._made: dict[object, _Made] = {}

    def plan(self, components: Iterable[Component]) -> Plan:
        """Plan the environments of some components: nothing is written, nothing is built."""
        self._seen = {seen.path: seen for seen in self.setting.inputs}
        self._made = {}
        users: dict[str, list[str]] = {}
        firsts: dict[str, _Made] = {}
        drivers: list[str] = []
        problems: list[Problem] = []
        files: list[tuple[str, tuple[str, ...]]] = []
        for component in components:
            if component.spec is None:
                drivers.append(component.name)
                continue
            try:
                made = self._make(component.spec)
                users.setdefault(made.key, []).append(component.name)
                firsts.setdefault(made.key, made)
            except GreenroomError as error:
                problems.append(Problem(components=(component.name,), error=_advised(error, component)))
            files.append((component.name, self._files(component.spec)))
        notes = dict.fromkeys(note for made in firsts.values() for note in made.supply.notes)
        return Plan(
            setting=self.setting,
            environments=tuple(self._planned(made, users[key]) for key, made in firsts.items()),
            drivers=tuple(drivers),
            problems=merged(problems),
            files=tuple(files),
            inputs=tuple(self._seen.values()) if self._watch else (),
            choices=self._choices(),
            notes=tuple(notes),
        )

    def interpreter(self, spec: EnvironmentSpec) -> Interpreter:
        """Return the interpreter of an environment: its own request, else its lock's, else the driver's.

        :raises PythonNotFound: no interpreter here satisfies the request.
        """
        request = spec.options.python or locks.requires_python(spec, self.setting.declaration.root)
        if request not in self._interpreters:
            try:
                self._interpreters[request] = discovery.find(
                    request,
                    driver=self.setting.driver,
                    declared=self.setting.declaration.pythons,
                    remembered=self._remembered,
                    downloads=self.setting.declaration.python_downloads,
                    ask_uv=self._ask_uv,
                    origin=spec.options.python_origin,
                    environ=self._environ,
                )
            except GreenroomError as error:
                self._interpreters[request] = error
        found = self._interpreters[request]
        if isinstance(found, GreenroomError):
            raise found
        return found

    def _make(self, spec: EnvironmentSpec) -> _Made:
        same = _same(spec)
        made = self._made.get(same)
        if made is None:
            self._inputs(spec)  # before they are read
            interpreter = self.interpreter(spec)
            selection = locks.read(spec, self.setting.declaration.root, interpreter, self._environ)
            recipe, supply = making.make(spec, selection, interpreter, self._environ)
            made = self._made[same] = _Made(spec, keys.key(recipe), recipe, supply, interpreter)
        return made

    def _files(self, spec: EnvironmentSpec) -> tuple[str, ...]:
        """Return the files that decide one environment, its local sources included."""
        files = self._inputs(spec)
        made = self._made.get(_same(spec))
        if made is None or not self._watch:
            return files
        for path in made.supply.files:
            if path not in self._seen:
                # Looked at after it was read, so without a digest: a young one does not count.
                self._seen[path] = look(path, content=False)
        return tuple(dict.fromkeys((*files, *made.supply.files)))

    def _inputs(self, spec: EnvironmentSpec) -> tuple[str, ...]:
        """Return the files that decide one environment; each is looked at once."""
        if not self._watch:
            return ()
        try:
            found = locks.inputs(spec, self.setting.declaration.root, self._environ)
        except GreenroomError:  # said when they are read
            return ()
        for path in found:
            if path not in self._seen:
                self._seen[path] = look(path)
        return found

    def _planned(self, made: _Made, users: list[str]) -> Planned:
        found = Planned(
            key=made.key,
            components=tuple(users),
            spec=made.spec,
            recipe=made.recipe,
            supply=made.supply,
            interpreter=made.interpreter,
            state=State.MISSING,
            reason="",
            store=self.setting.stores[0],
        )
        return examined(found, self.setting.stores)

    def _choices(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (request, found.path)
            for request, found in self._interpreters.items()
            if request is not None and not isinstance(found, GreenroomError)
        )


def _advised(error: GreenroomError, component: Component) -> GreenroomError:
    """Return an error about a lock of our own with the command for this component, as people know it."""
    ours = component.spec is not None and isinstance(component.spec.source, generated.LOCKED_HERE)
    if ours and isinstance(error, LockMissing | StaleLock):
        error.todo = f"greenroom lock {component.name}"
    return error


def _same(spec: EnvironmentSpec) -> object:
    """Return what two specifications that give the same content have in common."""
    own = spec.lock_name if isinstance(spec.source, generated.LOCKED_HERE) else ""
    return spec.source, replace(spec.options, python_origin=None), own


def _unready(stores: tuple[Store, ...], key: str) -> tuple[str, str, Store]:
    """Return the state of a key that no store has ready, the reason, and the store that would build it."""
    for store in stores:
        state, reason = layout.state(store, key)
        if state != State.MISSING:
            return state, reason, store
    try:
        store = layout.building(stores)
    except NoStoreWritable:
        store = stores[0]
    return State.MISSING, "not built", store
