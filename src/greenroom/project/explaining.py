"""Tell what decides an environment, and what made it another one, in words."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.components import (
    InlineSource,
    ProjectSource,
    PylockSource,
    RequirementsSource,
    ScriptSource,
    Source,
)
from greenroom.errors import LogMissing, LogUnreadable, NoEnvironment
from greenroom.project import roots
from greenroom.recipes import difference
from greenroom.recipes.model import Build, Editable, Late, Wheel
from greenroom.store import records

if TYPE_CHECKING:
    from greenroom.project.model import Plan, Planned
    from greenroom.recipes.model import Distribution, Recipe

__all__ = ["Content", "Explanation", "compare", "explain", "last_log", "log_text", "planned", "source_words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One distribution, and what of it is in the key."""

    name: str
    version: str | None
    kind: str
    """``wheel``, ``build``, ``editable`` or ``late``."""
    decides: str
    """What is digested: a file's sha256, a source, a path, or nothing more than the version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What decides a component's environment, and what changed since it was last synced."""

    name: str
    key: str
    state: str
    reason: str
    origin: str
    """Where it is declared: file, line and key."""
    source: str
    """Where the content comes from, in words."""
    python: str
    """Implementation, version and ABI."""
    interpreter: str
    """The base interpreter's path, which is in the key too."""
    request: str | None
    """The request that chose it; None: the driver's."""
    contents: tuple[Content, ...]
    variables: tuple[tuple[str, str | None], ...]
    """What builds may read (``build-env``), with their values."""
    options: tuple[str, ...]
    """Options that change files: ``post-install``, ``allow-clash``, no bytecode."""
    shared_with: tuple[str, ...]
    """Components with the same key."""
    before: str | None
    """The key of the last sync, when it was another one."""
    changes: tuple[str, ...] | None
    """What made the key another one; None when the environment of before is not there any more."""


def planned(plan: Plan, name: str) -> Planned:
    """Return the environment of one component that is known to be declared.

    :raises NoEnvironment: it runs on the driver's interpreter.
    :raises GreenroomError: its environment cannot be told, and why.
    """
    if name in plan.drivers:
        raise NoEnvironment(name, plan.setting.launcher)
    for problem in plan.problems:
        if name in problem.components:
            raise problem.error
    return next(environment for environment in plan.environments if name in environment.components)


def last_log(plan: Plan, name: str) -> str:
    """Return the path of the log of a component's last build, failed or not.

    :raises NoEnvironment: it runs on the driver's interpreter.
    :raises LogMissing: none is kept.
    """
    found = planned(plan, name)
    for store in plan.setting.stores:
        try:
            logs = [entry for entry in os.listdir(store.logs) if entry.startswith(f"{found.key}.")]
        except OSError:
            continue
        if logs:  # their names end with the time
            return os.path.join(store.logs, max(logs))
    raise LogMissing(name, found.store.logs)


def log_text(path: str) -> str:
    """Return what a log says.

    :raises LogUnreadable: it is private to whoever built.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError as error:
        raise LogUnreadable(path, error.strerror or type(error).__name__) from error


def explain(plan: Plan, name: str) -> Explanation:
    """Explain the environment of one component.

    :param plan: of the whole project, or at least of this component.
    :raises NoEnvironment: it runs on the driver's interpreter.
    :raises GreenroomError: its environment cannot be told, and why.
    """
    found = planned(plan, name)
    spec = plan.component(name).spec or found.spec
    before, changes = _changes(plan, found, name)
    python = found.recipe.python
    return Explanation(
        name=name,
        key=found.key,
        state=found.state,
        reason=found.reason,
        origin=str(plan.component(name).origin),
        source=source_words(spec.source, plan.setting.declaration.root),
        python=f"{python.implementation} {python.version} {python.abi}",
        interpreter=python.path,
        request=spec.options.python,
        contents=tuple(_content(made) for made in found.recipe.distributions),
        variables=_variables(found.recipe),
        options=_options(found.recipe),
        shared_with=tuple(other for other in found.components if other != name),
        before=before,
        changes=changes,
    )


def compare(old: Planned, new: Planned) -> tuple[str, ...]:
    """Return in words how the contents of two environments differ; nothing when they are one."""
    return difference.difference(old.recipe, new.recipe)


def source_words(source: Source, root: str) -> str:
    """Return where an environment's content comes from, in words, with paths from ``root``."""

    def near(path: str) -> str:
        return os.path.relpath(path, root)

    match source:
        case ProjectSource():
            words = [near(os.path.join(source.directory, "uv.lock"))]
            words += [f"package {source.package}"] if source.package else []
            words += [f"extra {extra}" for extra in source.extras]
            words += [f"group {group}" for group in source.groups]
            words += [] if source.default_groups else ["no default groups"]
            return ", ".join(words)
        case PylockSource():
            words = [near(source.path), *(f"extra {extra}" for extra in source.extras)]
            return ", ".join([*words, *(f"group {group}" for group in source.groups)])
        case RequirementsSource():
            return ", ".join(
                near(path) for path in (*source.requirements, *source.constraints, *source.overrides)
            )
        case InlineSource():
            return f"dependencies {', '.join(source.requirements)}"
        case ScriptSource():
            return f"script {near(source.path)}"


def _changes(plan: Plan, found: Planned, name: str) -> tuple[str | None, tuple[str, ...] | None]:
    before = roots.last(plan.setting, name)
    if before is None or before == found.key:
        return None, ()
    for store in plan.setting.stores:
        record = records.read(store, before)
        if record is not None:
            return before, difference.difference(record.recipe, found.recipe)
    return before, None


def _content(made: Distribution) -> Content:
    match made.content:
        case Wheel():
            kind, decides = "wheel", f"{made.content.file} sha256 {made.content.sha256}"
        case Build():
            kind, decides = "build", made.content.source
        case Editable():
            kind, decides = "editable", made.content.path
        case Late():
            kind, decides = "late", ""
    return Content(name=made.name, version=made.version, kind=kind, decides=decides)


def _variables(recipe: Recipe) -> tuple[tuple[str, str | None], ...]:
    found: dict[str, str | None] = {}
    for made in recipe.distributions:
        if isinstance(made.content, Build):
            found.update(made.content.inputs.variables)
    return tuple(sorted(found.items()))


def _options(recipe: Recipe) -> tuple[str, ...]:
    words: list[str] = [] if recipe.bytecode else ["compile-bytecode = false"]
    words += [f"allow-clash = {name}" for name in recipe.last]
    words += [f"post-install = {' '.join(command)}" for command in recipe.post_install]
    return tuple(words)
