"""Find out once what the checks look at: each environment on its own, so that no fault hides another.

Where a step fails its error is kept and the way goes on as far as it can: without the Python that
is asked for, an assumed one of that version tells which files an environment would have; a stale
lock is still read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TypeVar

from greenroom.checks import assumed
from greenroom.checks.sources import Sources, roots_of
from greenroom.components import ProjectSource
from greenroom.errors import GreenroomError, MissingHash, NoMatchingFile, StaleLock
from greenroom.interpreters import discovery
from greenroom.locks import projects, settings, uvlock
from greenroom.locks import reading as locks
from greenroom.project.choices import remembered
from greenroom.recipes import keys, making
from greenroom.store import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from greenroom.components import Component, Declaration, EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.model import Selection
    from greenroom.recipes.model import Recipe, Supply
    from greenroom.store.layout import Store

__all__ = ["Facts", "Wanted", "gather", "projects_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One environment that components want, as far as it can be told."""

    spec: EnvironmentSpec
    components: tuple[Component, ...]
    request: str | None
    """What is asked of the interpreter: the component's own request, else its lock's."""
    interpreter: Interpreter | None
    """None when not even an assumed one can stand for the request."""
    assumed: bool
    """Whether no such interpreter is here."""
    selection: Selection | None
    recipe: Recipe | None
    supply: Supply | None
    key: str | None
    """None when something is wrong: it is not the one that a build would have."""
    errors: tuple[GreenroomError, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple(component.name for component in self.components)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A declaration and its surroundings, read once."""

    declaration: Declaration
    environ: Mapping[str, str]
    driver: Interpreter | None
    stores: tuple[Store, ...]
    wanted: tuple[Wanted, ...]
    missing: tuple[Wanted, ...]
    """Those that stand ready in no store."""
    sources: Sources
    """The modules of the declaration's projects."""
    errors: tuple[GreenroomError, ...]
    """What is wrong for all: no driver, no usable store."""


def gather(declaration: Declaration, environ: Mapping[str, str]) -> Facts:
    """Find out everything that the checks of one run look at; nothing is written.

    Interpreters are asked what they are, and uv which ones there are; otherwise no process runs.
    """
    errors: list[GreenroomError] = []
    driver = _kept(errors, lambda: discovery.driver(declaration.driver, environ))
    stores = _kept(errors, lambda: layout.stores(declaration.store, environ)) or ()
    explorer = _Explorer(declaration, environ, driver, remembered(stores))
    wanted = tuple(explorer.explore(group) for group in _groups(declaration.components))
    return Facts(
        declaration=declaration,
        environ=environ,
        driver=driver,
        stores=stores,
        wanted=wanted,
        missing=tuple(one for one in wanted if one.key is None or layout.find(stores, one.key) is None),
        sources=Sources(_roots(declaration)),
        errors=tuple(errors),
    )


def projects_of(declaration: Declaration) -> tuple[str, ...]:
    """Return the directories of the uv projects that components take extras from."""
    specs = (component.spec for component in declaration.components)
    sources = (spec.source for spec in specs if spec is not None)
    return tuple(dict.fromkeys(source.directory for source in sources if isinstance(source, ProjectSource)))


def _roots(declaration: Declaration) -> list[str]:
    """Return the source roots of the declaration's directory, of its projects and of their members."""
    directories = dict.fromkeys([declaration.root, *projects_of(declaration)])
    for directory in list(directories):
        directories |= dict.fromkeys(_members(directory))
    roots: list[str] = []
    for directory in directories:
        roots.extend(roots_of(directory, _pyproject(directory)))
    return list(dict.fromkeys(roots))


def _members(directory: str) -> list[str]:
    try:
        lock = uvlock.load(os.path.join(directory, "uv.lock"))
    except GreenroomError:  # absent, or said where it is read
        return []
    return list(projects.local_sources(lock).values())


def _pyproject(directory: str) -> uvlock.Table | None:
    try:
        return settings.table(os.path.join(directory, "pyproject.toml"))
    except GreenroomError:  # said where it is read
        return None


def _kept(errors: list[GreenroomError], step: Callable[[], T]) -> T | None:
    try:
        return step()
    except GreenroomError as error:
        errors.append(error)
        return None


def _groups(components: Iterable[Component]) -> Iterable[tuple[Component, ...]]:
    """Return the components that want the same environment, in the declaration's order."""
    groups: dict[object, list[Component]] = {}
    for component in components:
        if component.spec is not None:
            groups.setdefault(_same(component.spec), []).append(component)
    return [tuple(group) for group in groups.values()]


def _same(spec: EnvironmentSpec) -> object:
    source = spec.source
    if isinstance(source, ProjectSource):
        extras, groups = sorted(set(source.extras)), sorted(set(source.groups))
        source = replace(source, extras=tuple(extras), groups=tuple(groups))
    return source, replace(spec.options, python_origin=None)


class _Explorer:
    """Goes the way from a specification to a recipe; interpreters are looked for once."""

    def __init__(
        self,
        declaration: Declaration,
        environ: Mapping[str, str],
        driver: Interpreter | None,
        remembered: Mapping[str, str],
    ) -> None:
        self._declaration = declaration
        self._environ = environ
        self._driver = driver
        self._remembered = remembered
        self._found: dict[str | None, Interpreter | GreenroomError] = {}
        self._assumed: dict[str, Interpreter | None] = {}

    def explore(self, components: tuple[Component, ...]) -> Wanted:
        """Return what can be told of the environment that some components want."""
        spec = components[0].spec
        assert spec is not None  # noqa: S101 - only such components are grouped
        errors: list[GreenroomError] = []
        root = self._declaration.root
        request = spec.options.python or _kept(errors, lambda: locks.requires_python(spec, root))
        unread = bool(errors)  # reading the source again would fail again
        interpreter = _kept(errors, lambda: self._find(request, spec))
        target = interpreter or self._assume(request)
        selection = None if target is None or unread else self._select(spec, target, errors)
        recipe, supply = self._make(spec, selection, target, errors)
        return Wanted(
            spec=spec,
            components=components,
            request=request,
            interpreter=target,
            assumed=interpreter is None,
            selection=selection,
            recipe=recipe,
            supply=supply,
            key=keys.key(recipe) if recipe is not None and not errors else None,
            errors=tuple(errors),
        )

    def _select(
        self, spec: EnvironmentSpec, target: Interpreter, errors: list[GreenroomError]
    ) -> Selection | None:
        try:
            return locks.read(spec, self._declaration.root, target, self._environ)
        except StaleLock as error:
            errors.append(error)
        except GreenroomError as error:
            errors.append(error)
            return None
        source = spec.source
        if not isinstance(source, ProjectSource):
            return None
        return _kept(errors, lambda: projects.select(source, target, where=str(spec.origin)))

    def _make(
        self,
        spec: EnvironmentSpec,
        selection: Selection | None,
        target: Interpreter | None,
        errors: list[GreenroomError],
    ) -> tuple[Recipe | None, Supply | None]:
        """Make the recipe, without the distributions that have no file: each of those is said."""
        while selection is not None and target is not None:
            try:
                return making.make(spec, selection, target, self._environ)
            except (NoMatchingFile, MissingHash) as error:
                errors.append(error)
                rest = tuple(one for one in selection.distributions if one.name != error.name)
                if len(rest) == len(selection.distributions):
                    break
                selection = replace(selection, distributions=rest)
            except GreenroomError as error:
                errors.append(error)
                break
        return None, None

    def _find(self, request: str | None, spec: EnvironmentSpec) -> Interpreter | None:
        if self._driver is None:
            return None
        if request not in self._found:
            try:
                self._found[request] = discovery.find(
                    request,
                    driver=self._driver,
                    declared=self._declaration.pythons,
                    remembered=self._remembered,
                    downloads=self._declaration.python_downloads,
                    origin=spec.options.python_origin,
                    environ=self._environ,
                )
            except GreenroomError as error:
                self._found[request] = error
        found = self._found[request]
        if isinstance(found, GreenroomError):
            raise found
        return found

    def _assume(self, request: str | None) -> Interpreter | None:
        like = self._driver or self._own()
        wanted = request or (like.version if like else "")
        if wanted not in self._assumed:
            version = assumed.version_for(wanted)
            self._assumed[wanted] = assumed.interpreter(version, like) if version and like else None
        return self._assumed[wanted]

    def _own(self) -> Interpreter | None:
        """Return greenroom's own interpreter where the driver that is named is none."""
        environ = {name: value for name, value in self._environ.items() if name != "GREENROOM_DRIVER"}
        try:
            return discovery.driver(None, environ)
        except GreenroomError:  # then nothing can be said about platforms
            return None
