"""Find an extra that a requirement asks for and its package does not have; uv only warns of it."""

from __future__ import annotations

import re

from greenroom.components import InlineSource, RequirementsSource, ScriptSource
from greenroom.errors import ExtraNotProvided
from greenroom.locks import origins, requirements
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.locks.requirements import Entry

__all__ = ["refuse"]

_WARNING = re.compile(
    r"The package `(?P<name>[^`=\s]+)(?:==(?P<version>[^`]*))?` "
    r"does not have an extra named `(?P<extra>[^`]+)`"
)


def refuse(lines: Iterable[str], spec: EnvironmentSpec, environ: Mapping[str, str]) -> None:
    """Stop when uv warned of an extra that the source itself asks for.

    What a dependency asks of another one is not the user's mistake and stays a warning.

    :param lines: what uv said while it resolved.
    :raises ExtraNotProvided: naming the line of the requirement.
    """
    warned = [found for line in lines if (found := _WARNING.search(line))]
    if not warned:
        return
    entries = _entries(spec, environ)
    for found in warned:
        name, extra = normalize(found["name"]), normalize(found["extra"])
        for entry in entries:
            if entry.name == name and extra in entry.extras:
                raise ExtraNotProvided(name, found["version"], extra, where=entry.line.where)


def _entries(spec: EnvironmentSpec, environ: Mapping[str, str]) -> tuple[Entry, ...]:
    source, where = spec.source, str(spec.origin)
    if isinstance(source, RequirementsSource):
        listed = requirements.read(source.requirements, environ, constraints=source.constraints)
        base = source.base or "/"
        added = requirements.read_lines(source.extra_requirements, environ, base=base, where=where)
        return (*listed.lines, *added.lines)
    if isinstance(source, InlineSource):
        return requirements.read_lines(source.requirements, environ, base=source.base, where=where).lines
    if isinstance(source, ScriptSource):
        lines = [str(line) for line in origins.script_metadata(source.path).get("dependencies", ())]
        return requirements.read_lines(lines, {}, base="/", where=source.path).lines
    return ()
