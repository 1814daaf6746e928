"""Settle what decides the builds of one environment: requirements, settings, variables, what they see.

Without isolation a build sees the environment itself. It is then given the packages that come as
wheels or are built in isolation, and those links of a chain that are before it: in the declared
order, or because uv's ``extra-build-dependencies`` names them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement

from greenroom.errors import BuildNeedsRuntime, BuildOrderLoop, LockUnreadable
from greenroom.locks.markers import target
from greenroom.locks.settings import ALL
from greenroom.locks.uvlock import normalize
from greenroom.recipes.keys import wheel_key
from greenroom.recipes.model import Build, BuildInputs, Python, Wheel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.model import BuildSettings
    from greenroom.recipes.model import Distribution

__all__ = ["finished", "python_of", "variables_of"]


def python_of(interpreter: Interpreter) -> Python:
    """Return the interpreter's part of a recipe."""
    markers = dict(interpreter.markers)
    return Python(
        path=interpreter.path,
        implementation=interpreter.implementation,
        version=interpreter.version,
        abi=interpreter.abi,
        system=f"{markers['sys_platform']}-{markers['platform_machine']}",
    )


def variables_of(spec: EnvironmentSpec, environ: Mapping[str, str]) -> tuple[tuple[str, str | None], ...]:
    """Return ``build-env`` with its values, sorted: the declared one, else the caller's; None: not set."""
    found = {name: environ.get(name) if value is None else value for name, value in spec.options.build_env}
    return tuple(sorted(found.items()))


def finished(
    distributions: Sequence[Distribution],
    last: Collection[str],
    *,
    spec: EnvironmentSpec,
    settings: BuildSettings,
    interpreter: Interpreter,
    environ: Mapping[str, str],
) -> tuple[Distribution, ...]:
    """Return the distributions with every build's inputs settled, in the given order.

    :param distributions: their builds have no inputs yet.
    :param last: names of the local sources: built last, and so seen by no other build.
    :raises BuildOrderLoop: packages built without isolation need each other.
    :raises BuildNeedsRuntime: a build follows a package that the environment has not.
    """
    work = _Work(distributions, last, spec, settings, interpreter)
    work.build_env = variables_of(spec, environ)
    return tuple(work.settle(one.name) for one in distributions)


class _Work:
    """The distributions of one environment while their builds are settled."""

    def __init__(
        self,
        distributions: Sequence[Distribution],
        last: Collection[str],
        spec: EnvironmentSpec,
        settings: BuildSettings,
        interpreter: Interpreter,
    ) -> None:
        self.given = {one.name: one for one in distributions}
        self.last, self.settings = frozenset(last), settings
        self.python = python_of(interpreter)
        self.where = str(spec.origin)
        self.build_env: tuple[tuple[str, str | None], ...] = ()
        self.done: dict[str, Distribution] = {}
        self.under_way: list[str] = []
        self.declared = {
            normalize(name): tuple(normalize(seen) for seen in sees)
            for name, sees in spec.options.no_build_isolation
        }
        markers = target(interpreter.markers)
        self.requires = {
            name: tuple(
                (requirement, runtime)
                for requirement, runtime in ((_requirement(line, self.where), said) for line, said in lines)
                if markers.holds(str(requirement.marker) if requirement.marker else None)
            )
            for name, lines in settings.extra_build_requires
        }

    def settle(self, name: str) -> Distribution:
        """Return one distribution with its build settled, after those that it sees."""
        if name in self.done:
            return self.done[name]
        one = self.given[name]
        if isinstance(one.content, Build):
            if name in self.under_way:
                raise BuildOrderLoop((*self.under_way[self.under_way.index(name) :], name), where=self.where)
            self.under_way.append(name)
            inputs = self._isolated(name) if self._is_isolated(name) else self._seeing(name)
            self.under_way.pop()
            one = replace(one, content=replace(one.content, inputs=inputs))
        self.done[name] = one
        return one

    def _is_isolated(self, name: str) -> bool:
        said = self.settings.no_build_isolation
        return not (name in self.declared or name in said or ALL in said)

    def _isolated(self, name: str) -> BuildInputs:
        requires, seen = [], []
        for requirement, runtime in self.requires.get(name, ()):
            if not runtime:
                requires.append(str(requirement))
                continue
            needed = normalize(requirement.name)
            if needed not in self.given:
                raise BuildNeedsRuntime(name, needed, where=self.where)
            extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
            version = self.given[needed].version
            requires.append(f"{needed}{extras}=={version}" if version else f"{needed}{extras}")
            seen.append(self._digest(needed))
        return replace(self._common(name), requires=tuple(sorted(requires)), sees=tuple(sorted(seen)))

    def _seeing(self, name: str) -> BuildInputs:
        seen = tuple(sorted(self._digest(other) for other in self._sees(name)))
        return replace(self._common(name), isolated=False, sees=seen)

    def _common(self, name: str) -> BuildInputs:
        settings = dict(self.settings.config_settings)
        settings.update(dict(dict(self.settings.config_settings_package).get(name, ())))
        variables: dict[str, str | None] = dict(self.build_env)
        variables.update(dict(dict(self.settings.extra_build_variables).get(name, ())))
        return BuildInputs(
            constraints=self.settings.build_constraints,
            settings=tuple(sorted(settings.items())),
            variables=tuple(sorted(variables.items())),
        )

    def _sees(self, name: str) -> set[str]:
        """Return the packages of the environment that a build without isolation sees."""
        chosen = self.declared.get(name)
        if chosen:
            return {other for other in chosen if self._visible(other) and other != name}
        ready = {other for other in self.given if self._visible(other) and self._is_ready(other)}
        order = list(self.declared)
        before = order[: order.index(name)] if name in self.declared else []
        needed = [normalize(line.name) for line, _ in self.requires.get(name, ())]
        return ready.union(other for other in (*before, *needed) if self._visible(other)) - {name}

    def _visible(self, name: str) -> bool:
        content = self.given[name].content if name in self.given and name not in self.last else None
        return isinstance(content, Build | Wheel)

    def _is_ready(self, name: str) -> bool:
        return isinstance(self.given[name].content, Wheel) or self._is_isolated(name)

    def _digest(self, name: str) -> str:
        one = self.settle(name)
        content = one.content
        if isinstance(content, Wheel):
            digest = content.sha256
        elif isinstance(content, Build):
            digest = wheel_key(content, self.python)
        else:
            digest = type(content).__name__.lower()
        return f"{name}=={one.version or ''}@{digest}"


@lru_cache(maxsize=1024)
def _requirement(line: str, where: str) -> Requirement:
    try:
        return Requirement(line)
    except InvalidRequirement as error:
        raise LockUnreadable(where, f"extra-build-dependencies: {line!r} is no requirement") from error
