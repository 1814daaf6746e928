"""Read whatever source an environment has as locked data."""

from __future__ import annotations

import os
from dataclasses import replace

from greenroom.components import ProjectSource, PylockSource, RequirementsSource, ScriptSource
from greenroom.errors import (
    GreenroomError,
    LockNeedsPython,
    StaleLock,
    UnknownExtra,
    UnknownGroup,
    UnknownMember,
)
from greenroom.locks import generated, projects, settings, staleness
from greenroom.locks.model import BuildSettings, Selection
from greenroom.locks.uvlock import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.uvlock import Table

__all__ = ["build_settings", "inputs", "read", "requires_python"]


def read(spec: EnvironmentSpec, root: str, target: Interpreter, environ: Mapping[str, str]) -> Selection:
    """Return what the source's lock gives for one target.

    :param root: the declaration's directory, which holds ``greenroom.lock/``.
    :param environ: the caller's variables, for ``${NAME}`` in requirements files.
    :raises LockMissing, StaleLock: there is no lock, or its inputs changed since.
    :raises LockUnreadable, LockTooNew, NotALockName, AmbiguousLock: the lock is at fault.
    :raises LockNeedsPython, PlatformNotLocked: the lock is not for this target.
    :raises UnknownExtra, UnknownGroup, UnknownMember, ExtrasConflict: the request is.
    :raises RequirementsUnreadable: a requirements file is.
    :raises SecretInSource: a file that was read holds a credential.
    """
    source, where = spec.source, str(spec.origin)
    if isinstance(source, ProjectSource):
        try:
            selection = projects.select(source, target, where=where)
        except (UnknownExtra, UnknownGroup, UnknownMember, LockNeedsPython):
            _fresh(source)  # or else what is asked for may be in `pyproject.toml` by now
            raise
        found = _fresh(source)
        return replace(selection, notes=(*selection.notes, *found.notes))
    if isinstance(source, PylockSource):
        from greenroom.locks import pylock  # noqa: PLC0415 - heavy: only where there is such a source

        pylock.check_name(source.path, where=where)
        todo = "write it, for example with `uv export --format pylock.toml`"
        locked = pylock.select(source, target, where=where, todo=todo)
        return Selection(distributions=locked, settings=BuildSettings(), files=(source.path,))
    return _generated(spec, root, target, environ)


def _fresh(source: ProjectSource) -> staleness.Found:
    """Return how a project's lock compares with what it was made from.

    :raises StaleLock: it is out of date.
    """
    found = staleness.of(source.directory)
    if found.differences:
        todo = f"uv lock --project {source.directory}"
        raise StaleLock(projects.lock_of(source), found.differences, todo=todo)
    return found


def _generated(
    spec: EnvironmentSpec, root: str, target: Interpreter, environ: Mapping[str, str]
) -> Selection:
    from greenroom.locks import pylock  # noqa: PLC0415 - heavy: only where there is such a source

    file, todo = generated.path(root, spec.lock_name), f"greenroom lock {spec.lock_name}"
    pylock.load(file, where=str(spec.origin), todo=todo)
    reason = generated.staleness(spec, root, environ)
    if reason is not None:
        raise StaleLock(file, (reason,), todo=todo)
    locked = pylock.select(PylockSource(path=file), target, where=str(spec.origin), todo=todo)
    return Selection(
        distributions=locked,
        settings=build_settings(spec, root, environ),
        files=generated.inputs(spec, root, environ),
    )


def build_settings(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> BuildSettings:
    """Return the settings of a source that is locked in ``greenroom.lock/``.

    They are those of its own ``uv.toml``, of a script's ``[tool.uv]``, and of requirements files'
    ``--no-binary`` and ``--only-binary`` and build constraints.
    """
    source = spec.source
    if isinstance(source, ScriptSource):
        return settings.build_settings(settings.section(_script_metadata(source.path), "tool", "uv"))
    if not isinstance(source, RequirementsSource):
        return BuildSettings()
    said = settings.build_settings(settings.table(source.config) or {} if source.config else {})
    from greenroom.locks import requirements  # noqa: PLC0415 - heavy: only where there is such a source

    found = requirements.read(source.requirements, environ, constraints=source.constraints, base=root)
    no_binary, no_build = requirements.formats(found)
    constraints = requirements.read(source.build_constraints, environ, base=root)
    lines = {one.line.text for one in constraints.lines if one.kind != "option"}
    return replace(
        said,
        no_binary=tuple(sorted({*said.no_binary, *no_binary})),
        no_build=tuple(sorted({*said.no_build, *no_build})),
        build_constraints=tuple(sorted({*said.build_constraints, *lines})),
    )


def inputs(spec: EnvironmentSpec, root: str, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the files whose stat decides what :func:`read` gives, absent ones included.

    :param environ: the caller's variables; None: those of this process.

    Local sources count beside these: :attr:`greenroom.recipes.model.Supply.files`. Where a file is at
    fault, those that it would lead to are left out: without it correct, nothing can be read anyway.
    """
    source = spec.source
    if isinstance(source, PylockSource):
        return (source.path,)
    try:
        if isinstance(source, ProjectSource):
            return (*projects.inputs(source), *staleness.watched(source.directory))
        return generated.inputs(spec, root, os.environ if environ is None else environ)
    except GreenroomError:
        return _named(spec, root)


def _named(spec: EnvironmentSpec, root: str) -> tuple[str, ...]:
    """Return the files that a source names itself."""
    source = spec.source
    if isinstance(source, ProjectSource):
        names = ("uv.lock", "pyproject.toml", "uv.toml")
        return tuple(os.path.join(source.directory, name) for name in names)
    files: tuple[str, ...] = ()
    if isinstance(source, RequirementsSource):
        files = (*source.requirements, *source.constraints, *source.overrides, *source.build_constraints)
        files = (*files, source.config) if source.config else files
    elif isinstance(source, ScriptSource):
        files = (source.path,)
    return (generated.path(root, spec.lock_name), *files)


def requires_python(
    spec: EnvironmentSpec,
    root: str,  # noqa: ARG001 - one signature for all that reads a source
) -> str | None:
    """Return the source's own request for an interpreter: ``requires-python`` of its lock.

    None where there is no lock yet, or it says nothing; what is wrong with a lock is said by
    :func:`read`. A lock in ``greenroom.lock/`` was made for the declared request and has none of its
    own, except for a script's.
    """
    source = spec.source
    try:
        if isinstance(source, ProjectSource):
            return load(projects.lock_of(source)).requires_python
        if isinstance(source, PylockSource):
            return _said(settings.table(source.path))
        if isinstance(source, ScriptSource):
            return _said(_script_metadata(source.path))
    except GreenroomError:
        return None
    return None


def _script_metadata(path: str) -> Table:
    from greenroom.locks import origins  # noqa: PLC0415 - heavy: only where there is such a source

    return origins.script_metadata(path)


def _said(table: Table | None) -> str | None:
    value = (table or {}).get("requires-python")
    return value if isinstance(value, str) else None
