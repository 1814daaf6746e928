"""A project from Python: one declaration, what it wants, and what is there.

Nothing is decided here: each method names the place that does.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from greenroom.declaration import reading
from greenroom.errors import Problems, UnknownComponent
from greenroom.project import answering
from greenroom.project.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.builder.events import Event, Observer
    from greenroom.project.explaining import Explanation
    from greenroom.project.locking import Outdated
    from greenroom.project.model import Plan, Problem, SyncReport

__all__ = ["Project", "load"]


def load(path: str | os.PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None) -> Project:
    """Return the project whose declaration counts at a place.

    :param path: a directory (looked at first, then its parents) or the declaration's file; None:
        ``GREENROOM_PROJECT``, else the working directory.
    :param environ: the variables that count; None: this process's, as they are now.
    :raises DeclarationNotFound: there is no declaration.
    :raises Problems: it has errors, all of them at once.
    """
    variables = dict(os.environ if environ is None else environ)
    start = None if path is None else os.fspath(path)
    if answering.memory(start, variables) is None:
        file = reading.find_declaration(start, variables)
        reading.read(file, variables)
        return Project(file, variables)
    return Project(reading.find_declaration(start, variables), variables)


class Project:
    """One declaration with the surroundings that it is read in."""

    def __init__(self, file: str, environ: Mapping[str, str]) -> None:
        self.file = file
        """The declaration's absolute path."""
        self._environ = environ

    def __repr__(self) -> str:
        """Return the declaration's path."""
        return f"<Project {self.file}>"

    @property
    def root(self) -> str:
        """The directory that holds the declaration."""
        return os.path.dirname(self.file)

    @property
    def components(self) -> tuple[str, ...]:
        """The names of all components, in the declaration's order."""
        return tuple(answer.name for answer in answering.known(self.file, self._environ).answers)

    def environment(self, name: str) -> Environment:
        """Return the environment of one component, ready or not.

        :raises UnknownComponent: the declaration has no such name.
        """
        answers = answering.known(self.file, self._environ).answers
        for answer in answers:
            if answer.name == name:
                return Environment(self, answer)
        raise UnknownComponent(name, known=[answer.name for answer in answers], declaration=self.file)

    def environments(self) -> tuple[Environment, ...]:
        """Return the environments of all components, in the declaration's order."""
        return tuple(
            Environment(self, answer) for answer in answering.known(self.file, self._environ).answers
        )

    def packages(self, name: str) -> MappingProxyType[str, str | None]:
        """Return what a component's environment contains: name -> version; None: told by its own source.

        :raises UnknownComponent: the declaration has no such name.
        :raises Problems: its lock cannot be used.
        """
        plan = self.plan([name])
        if plan.problems:
            raise Problems(problem.error for problem in plan.problems)
        made = [found for environment in plan.environments for found in environment.recipe.distributions]
        return MappingProxyType({found.name: found.version for found in made})

    def plan(self, names: Iterable[str] = ()) -> Plan:
        """Return keys, who uses them and what is missing; nothing is written or built.

        :param names: of these components only; all when there are none.
        :raises UnknownComponent: a name is not declared.
        """
        from greenroom.project import planning  # noqa: PLC0415 - the full road is heavy

        setting = planning.setting(self.file, self._environ)
        return planning.Planner(setting, self._environ).plan(planning.chosen(setting.declaration, names))

    def outdated(self, names: Iterable[str] = ()) -> tuple[Outdated, ...]:
        """Return which of greenroom's own locks are missing or out of date.

        :raises UnknownComponent: a name is not declared.
        """
        from greenroom.project import locking, planning  # noqa: PLC0415 - the full road is heavy

        declaration = reading.read(self.file, self._environ)
        return locking.outdated(planning.chosen(declaration, names), self.root, self._environ)

    def lock(
        self,
        names: Iterable[str] = (),
        *,
        on_event: Observer | None = None,
        upgrade: bool = False,
        offline: bool = False,
    ) -> tuple[str, ...]:
        """Write the locks of ``greenroom.lock/`` that are missing or out of date.

        :param upgrade: all of them, without regard to the pins that are there.
        :returns: the paths that were written.
        :raises Problems: some could not be written; the others are.
        """
        from greenroom.project import syncing  # noqa: PLC0415 - the full road is heavy

        written, problems = syncing.lock(
            self.file,
            self._environ,
            names=names,
            observer=on_event or _ignore,
            upgrade=upgrade,
            offline=offline,
        )
        _raise(problems)
        return written

    def sync(
        self,
        names: Iterable[str] = (),
        *,
        on_event: Observer | None = None,
        locked: bool = False,
        offline: bool = False,
        jobs: int | None = None,
    ) -> SyncReport:
        """Build what is missing.

        :param names: of these components only; all when there are none.
        :param on_event: called on this thread with every event.
        :param locked: a lock that would have to be written is an error instead.
        :param offline: nothing is fetched.
        :param jobs: builds that run at the same time; None chooses.
        :raises Problems: some environments could not be made; the others are ready.
        :raises InterruptedRunError: Ctrl-C; nothing incomplete counts as ready.
        """
        report = self.try_sync(names, on_event=on_event, locked=locked, offline=offline, jobs=jobs)
        _raise((*report.failed, *report.problems))
        return report

    def try_sync(
        self,
        names: Iterable[str] = (),
        *,
        on_event: Observer | None = None,
        locked: bool = False,
        offline: bool = False,
        jobs: int | None = None,
    ) -> SyncReport:
        """Build what is missing as :meth:`sync` does, and report failures instead of raising them."""
        from greenroom.project import syncing  # noqa: PLC0415 - the full road is heavy

        return syncing.sync(
            self.file,
            self._environ,
            names=names,
            observer=on_event or _ignore,
            locked=locked,
            offline=offline,
            at_once=jobs,
        )

    def why(self, name: str) -> Explanation:
        """Tell what decides a component's environment, and what changed it since the last sync.

        :raises UnknownComponent: the declaration has no such name.
        :raises NoEnvironment: it runs on the driver's interpreter.
        """
        from greenroom.project import explaining  # noqa: PLC0415 - the full road is heavy

        return explaining.explain(self.plan([name]), name)


def _ignore(_: Event) -> None:
    """Take an event and do nothing with it."""


def _raise(problems: Iterable[Problem]) -> None:
    errors = [problem.error for problem in problems]
    if errors:
        raise Problems(errors)
