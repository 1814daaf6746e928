"""Say how uv is to be asked to lock a source that has no lock of its own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from greenroom.components import InlineSource, RequirementsSource, ScriptSource
from greenroom.errors import LockingFailed
from greenroom.locks import host, origins, requirements
from greenroom.locks import settings as locks_settings
from greenroom.uv import toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import EnvironmentSpec, Host
    from greenroom.locks.requirements import RequirementSet

__all__ = ["LockInputs", "prepare"]

_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockInputs:
    """What one resolution reads."""

    title: str
    """The source in words, for errors."""
    directory: str
    """Where uv runs: relative local requirements are relative to it."""
    files: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    own: Mapping[str, Any] | None = field(default=None, repr=False)
    """The component's own uv settings."""
    own_directory: str = ""
    without_sources: tuple[str, ...] = ()
    """Packages whose ``tool.uv.sources`` do not count."""


def prepare(spec: EnvironmentSpec, root: str, folder: str, environ: Mapping[str, str]) -> LockInputs:
    """Return the inputs; what is not a file of the user's is written into ``folder``.

    :param folder: private, one level below a directory beside the lock.
    :raises RequirementsUnreadable, SecretInSource: a file cannot be taken as it is.
    :raises LockUnreadable: a script has no metadata that can be read.
    :raises LockingFailed: the source has a lock of its own.
    """
    source = spec.source
    if isinstance(source, RequirementsSource):
        return _of_requirements(source, spec.host, root, folder, environ)
    if isinstance(source, InlineSource):
        where = str(spec.origin)
        read = requirements.read_lines(source.requirements, environ, base=source.base, where=where)
        read = host.applied(read, spec.host, environ)
        files, constraints = _flattened(read, folder, "requirements")
        inputs = LockInputs(title=where, directory=source.base, files=files, constraints=constraints)
        return _hosted(inputs, read, spec.host, folder, environ)
    if isinstance(source, ScriptSource):
        return _of_script(source, folder)
    raise LockingFailed("the source has a lock of its own", component="", source=str(spec.origin))


def _of_requirements(
    source: RequirementsSource, its_host: Host | None, root: str, folder: str, environ: Mapping[str, str]
) -> LockInputs:
    directory = os.path.dirname(source.requirements[0]) if source.requirements else source.base or root

    def of(files: tuple[str, ...], name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if not files:
            return (), ()
        said = requirements.read(files, environ, base=directory)
        read = host.applied(said, its_host, environ)
        # uv replaces variables in URLs only, pip everywhere.
        as_it_is = read is said and not _has_variables(read.files)
        return (files, ()) if as_it_is else _flattened(read, folder, name)

    files, included = of(source.requirements, "requirements")
    if source.extra_requirements:
        where = "extra requirements"
        added = requirements.read_lines(source.extra_requirements, environ, base=directory, where=where)
        added = host.applied(added, its_host, environ)
        more, restricting = _flattened(added, folder, "added")
        files, included = (*files, *more), (*included, *restricting)
    inputs = LockInputs(
        title=", ".join(source.requirements),
        directory=directory,
        files=files,
        constraints=(*included, *of(source.constraints, "constraints")[0]),
        overrides=of(source.overrides, "overrides")[0],
        build_constraints=of(source.build_constraints, "build-constraints")[0],
        own=locks_settings.table(source.config) if source.config else None,
        own_directory=os.path.dirname(source.config) if source.config else "",
    )
    read = requirements.read(source.requirements, environ, base=directory)
    lines = (*read.lines, *(added.lines if source.extra_requirements else ()))
    return _hosted(inputs, replace(read, lines=lines), its_host, folder, environ)


def _hosted(
    inputs: LockInputs, read: RequirementSet, its_host: Host | None, folder: str, environ: Mapping[str, str]
) -> LockInputs:
    """Return the inputs for local projects whose own sources name a checkout of the host, not there."""
    places = dict.fromkeys(entry.path for entry in read.lines if entry.path is not None)
    found = [host.instead_of_source(place, its_host, environ) for place in places]
    instead = next((one for one in found if one is not None), None)
    if instead is None:
        return inputs
    file = _written(folder, "host.txt", f"{instead.requirement}\n")
    return replace(inputs, constraints=(*inputs.constraints, file), without_sources=(instead.name,))


def _flattened(read: RequirementSet, folder: str, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write what requirements files say, variables replaced, as one file, and one of constraints."""
    lines = {"requirement": "", "constraint": ""}
    for entry in read.lines:
        kind = "constraint" if entry.kind == "constraint" else "requirement"
        lines[kind] += f"{'-e ' if entry.editable else ''}{entry.line.text}\n"
    files = (_written(folder, f"{name}.txt", lines["requirement"]),)
    if not lines["constraint"]:
        return files, ()
    return files, (_written(folder, f"{name}.constraints.txt", lines["constraint"]),)


def _of_script(source: ScriptSource, folder: str) -> LockInputs:
    """Turn a script's metadata into a project: uv's ``pip compile`` overlooks a script's own sources."""
    metadata = origins.script_metadata(source.path)
    uv = metadata.get("tool", {}).get("uv", {})
    directory = os.path.dirname(source.path)
    lines = ["[project]", 'name = "script"', 'version = "0"']
    if "requires-python" in metadata:
        lines.append(f"requires-python = {toml.inline(metadata['requires-python'])}")
    lines.append(f"dependencies = {toml.inline(metadata.get('dependencies', []))}")
    if uv.get("sources"):
        lines += ["[tool.uv]", f"sources = {toml.inline(_moved(uv['sources'], directory, folder))}"]
        # An index that a source names must stand in the same file.
        lines.append(f"index = {toml.inline(uv.get('index', []))}")
    return LockInputs(
        title=source.path,
        directory=directory,
        files=(_written(folder, "pyproject.toml", "\n".join(lines) + "\n"),),
        own={name: value for name, value in uv.items() if name != "sources"},
        own_directory=directory,
    )


def _moved(sources: Mapping[str, Any], directory: str, folder: str) -> dict[str, Any]:
    """Return sources whose relative paths are relative to ``folder`` instead of the script's directory."""

    def one(source: Any) -> Any:
        if isinstance(source, list):
            return [one(entry) for entry in source]
        if isinstance(source, dict) and isinstance(source.get("path"), str):
            place = os.path.join(directory, source["path"])
            path = source["path"] if os.path.isabs(source["path"]) else os.path.relpath(place, folder)
            return source | {"path": path}
        return source

    return {name: one(source) for name, source in sources.items()}


def _has_variables(files: tuple[str, ...]) -> bool:
    return any(_VARIABLE.search(_text(path)) for path in files)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _written(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path
