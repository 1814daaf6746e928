"""Say how uv is to be asked to lock a source that has no lock of its own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from greenroom.components import InlineSource, RequirementsSource, ScriptSource
from greenroom.errors import LockingFailed
from greenroom.locks import origins, requirements
from greenroom.locks import settings as locks_settings
from greenroom.uv import toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import EnvironmentSpec

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
    variables: tuple[str, ...] = ()
    """Names of the variables that the files expand."""
    own: Mapping[str, Any] | None = field(default=None, repr=False)
    """The component's own uv settings."""
    own_directory: str = ""


def prepare(spec: EnvironmentSpec, root: str, folder: str, environ: Mapping[str, str]) -> LockInputs:
    """Return the inputs; what is not a file of the user's is written into ``folder``.

    :param folder: private, one level below a directory beside the lock.
    :raises RequirementsUnreadable, SecretInSource: a file cannot be taken as it is.
    :raises LockUnreadable: a script has no metadata that can be read.
    :raises LockingFailed: the source has a lock of its own.
    """
    source = spec.source
    if isinstance(source, RequirementsSource):
        return _of_requirements(source, root, folder, environ)
    if isinstance(source, InlineSource):
        where = str(spec.origin)
        read = requirements.read_lines(source.requirements, environ, base=source.base, where=where)
        file = _written(folder, "requirements.in", "\n".join(source.requirements) + "\n")
        return LockInputs(
            title=where,
            directory=source.base,
            files=(file,),
            variables=_expanded((file, *read.files)),
        )
    if isinstance(source, ScriptSource):
        return _of_script(source, folder)
    raise LockingFailed("the source has a lock of its own", component="", source=str(spec.origin))


def _of_requirements(
    source: RequirementsSource, root: str, folder: str, environ: Mapping[str, str]
) -> LockInputs:
    read = requirements.read(
        source.requirements, environ, constraints=(*source.constraints, *source.build_constraints)
    )
    files = source.requirements
    if source.extra_requirements:
        text = "\n".join(source.extra_requirements) + "\n"
        files = (*files, _written(folder, "added.in", text))
    directory = os.path.dirname(source.requirements[0]) if source.requirements else root
    return LockInputs(
        title=", ".join(source.requirements),
        directory=directory,
        files=files,
        constraints=source.constraints,
        overrides=source.overrides,
        build_constraints=source.build_constraints,
        variables=_expanded((*read.files, *source.overrides)),
        own=locks_settings.table(source.config) if source.config else None,
        own_directory=os.path.dirname(source.config) if source.config else "",
    )


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


def _expanded(files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables that the files name: uv replaces them, from its own environment."""
    names: set[str] = set()
    for path in files:
        with open(path, encoding="utf-8", errors="replace") as file:
            names.update(_VARIABLE.findall(file.read()))
    return tuple(sorted(names))


def _written(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path
