"""What is planned and what came of it, as frozen data: printable and comparable without a build."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.components import Component, Declaration, EnvironmentSpec
from greenroom.errors import GreenroomError
from greenroom.interpreters.model import Interpreter
from greenroom.recipes.model import Recipe, Supply
from greenroom.store.layout import Store
from greenroom.store.model import State

__all__ = ["Input", "Plan", "Planned", "Problem", "Setting", "SyncReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file as it was before it was read: path, size, mtime (ns), inode, sha256; None: absent."""

    path: str
    size: int | None
    mtime: int | None
    inode: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A declaration with the surroundings that it is read in."""

    declaration: Declaration
    driver: Interpreter
    launcher: str
    """The driver's path as it was named: a virtual environment's interpreter keeps its packages."""
    stores: tuple[Store, ...]
    inputs: tuple[Input, ...] = ()
    """The declaration's files as they were before they were read; empty when nobody asked."""
    began: int = 0
    """When the looking began: ``time.time_ns()``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One environment that components want, and its state in the stores."""

    key: str
    components: tuple[str, ...]
    """Names, in the declaration's order."""
    spec: EnvironmentSpec
    """Of the first of them."""
    recipe: Recipe
    supply: Supply
    interpreter: Interpreter
    state: str
    """One of the words of :class:`State`."""
    reason: str
    """Why it is not ready, in words; empty when it is."""
    store: Store
    """Where it is, or where it would be built."""
    built_at: float | None = None
    """When what stands there was built, seconds since the epoch; None when its record cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why the environment of some components cannot be told; the others go on."""

    components: tuple[str, ...]
    error: GreenroomError


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Keys, who uses them, and what is missing."""

    setting: Setting
    environments: tuple[Planned, ...]
    drivers: tuple[str, ...]
    """Components on the driver's interpreter."""
    problems: tuple[Problem, ...]
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Component -> the files that decided its key."""
    inputs: tuple[Input, ...] = ()
    """Those files as they were before they were read; empty when nobody asked."""
    choices: tuple[tuple[str, str], ...] = ()
    """The interpreters that were found for requests: request -> path."""
    notes: tuple[str, ...] = ()
    """What is worth one line and stops nothing."""

    @property
    def missing(self) -> tuple[Planned, ...]:
        """Return the environments that are to be built."""
        return tuple(environment for environment in self.environments if environment.state != State.READY)

    def component(self, name: str) -> Component:
        """Return the declared component of a name that is known to be declared."""
        return next(found for found in self.setting.declaration.components if found.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a sync did, environment by environment."""

    ready: tuple[str, ...]
    """Keys that were there already."""
    built: tuple[tuple[str, float], ...]
    """Keys that this run built, with the seconds that each took."""
    joined: tuple[str, ...]
    """Keys that another process built meanwhile."""
    failed: tuple[Problem, ...]
    """Builds that failed, by the components that wanted them."""
    problems: tuple[Problem, ...]
    """Components whose key cannot be told, locks that failed."""
    locked: tuple[str, ...]
    """Locks that this run wrote, absolute paths."""
    components: tuple[tuple[str, str], ...]
    """Component -> key, for those that are ready now."""
    fetched: tuple[tuple[str, float], ...] = ()
    """Keys whose archives were fetched, with the seconds that each took."""

    @property
    def ok(self) -> bool:
        """Tell whether every component that was asked for is ready."""
        return not self.failed and not self.problems

    @property
    def status(self) -> int:
        """Return the exit status: that of the worst problem (wrong input before a failed build)."""
        return max((problem.error.status for problem in (*self.failed, *self.problems)), default=0)
