"""Check uv itself: that it is here, new enough, and admitted by the projects."""

from __future__ import annotations

import os

from greenroom.checks.model import Finding, Severity, from_error
from greenroom.components import ProjectSource
from greenroom.errors import GreenroomError
from greenroom.locks import settings
from greenroom.uv import binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts
    from greenroom.locks.uvlock import Table

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Finding]:
    """Yield that uv is missing, too old or excluded by a project, and which of its settings are not taken."""
    if not facts.wanted:
        return
    try:
        version = binary.version(binary.find(facts.environ))
    except GreenroomError as error:
        yield from from_error("uv", error)
    else:
        yield from _required(facts, version)
    yield from _settings(facts)


def _required(facts: Facts, version: str) -> Iterator[Finding]:
    """Yield projects whose ``required-version`` excludes this uv (uv's settings reference)."""
    for wanted in facts.wanted:
        source = wanted.spec.source
        if not isinstance(source, ProjectSource):
            continue
        for file, table in _tables(source.directory):
            required = table.get("required-version")
            if isinstance(required, str) and not _admits(required, version):
                yield Finding(
                    check="uv",
                    severity=Severity.WARNING,
                    what=f"the project requires uv {required}, greenroom uses {version}",
                    where=file,
                    todo="install such a uv and let GREENROOM_UV name it, or change required-version",
                    components=wanted.names,
                )


def _tables(directory: str) -> Iterator[tuple[str, Table]]:
    pyproject, own = os.path.join(directory, "pyproject.toml"), os.path.join(directory, "uv.toml")
    try:
        found = settings.table(own)
        if found is not None:
            yield own, found
        else:
            yield pyproject, settings.section(settings.table(pyproject), "tool", "uv")
    except GreenroomError:  # said where the source is read
        return


def _admits(required: str, version: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - rarely set

    exact = required.strip()[:1].isdigit()
    try:
        return SpecifierSet(f"=={required}" if exact else required).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True  # uv itself says so


def _settings(facts: Facts) -> Iterator[Finding]:
    """Yield once what the user's and the machine's uv.toml say that is not taken."""
    from greenroom.uv.settings import transport  # noqa: PLC0415 - after what stops everything

    try:
        ignored = transport(facts.environ).ignored
    except GreenroomError as error:
        yield from from_error("uv", error)
        return
    files: dict[str, list[str]] = {}
    for one in ignored:
        files.setdefault(one.file, []).append(one.key)
    for file, keys in files.items():
        yield Finding(
            check="uv",
            severity=Severity.NOTE,
            what=f"not taken, because only transport settings count: {', '.join(sorted(keys))}",
            where=file,
            todo="declare it where it belongs: in the project or in the declaration",
        )
