"""What a server's own directory says: its source and its request for an interpreter."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from greenroom.actor_environments import Fault, content
from greenroom.components import InlineSource, Origin, RequirementsSource
from greenroom.errors import ServerDirectoryInvalid

if TYPE_CHECKING:
    from greenroom.components import Source
    from greenroom.declaration.kinds import Path
    from greenroom.declaration.report import Report
    from greenroom.declaration.sources import Sources

__all__ = ["is_server", "own_request", "own_source", "watched"]

_MANIFESTS = ("requirements.txt", "pyproject.toml")
_OTHERS = (
    "constraints.txt",
    "overrides.txt",
    "build-constraints.txt",
    "uv.lock",
    "uv.toml",
    ".python-version",
)


def watched(directory: str) -> tuple[str, ...]:
    """Return the files of a server's directory that count, whether they are there or not."""
    return tuple(os.path.join(directory, name) for name in (*_MANIFESTS, *_OTHERS))


def is_server(directory: str) -> bool:
    """Return whether a directory says what a server needs."""
    return any(os.path.isfile(os.path.join(directory, name)) for name in _MANIFESTS)


def own_source(
    directory: str, table: dict[str, Any], path: Path, sources: Sources, report: Report
) -> Source | None:
    """Return the source that a server's directory holds; None: none or two, which is reported.

    ``requirements.txt`` goes with ``constraints.txt``, ``overrides.txt``, ``build-constraints.txt`` and
    ``uv.toml`` beside it. A ``pyproject.toml`` with a ``uv.lock`` is a uv project; one without is
    installed editable, locked like requirements.
    """
    where = report.where(path)
    found = [name for name in _MANIFESTS if os.path.isfile(os.path.join(directory, name))]
    if len(found) != 1:
        what, todo = _complaint(directory, both=bool(found))
        report.add(ServerDirectoryInvalid(what, where=where, todo=todo))
        return None
    if found == ["pyproject.toml"] and os.path.isfile(os.path.join(directory, "uv.lock")):
        return sources.of_project(table, path, directory)
    if found == ["pyproject.toml"]:
        sources.check_names({"extras": table.get("extras", [])}, path, directory)
        return _editable(directory, table, path, report)
    for key in ("extras", "groups"):
        if key in table:
            what = f"{directory} has requirements, which have no {key}"
            report.conflict((*path, key), what, 'remove the key, or name a uv project with project = "…"')
    return _with_files(directory, (os.path.join(directory, "requirements.txt"),), ())


def _complaint(directory: str, *, both: bool) -> tuple[str, str]:
    """Return what is wrong with a directory, and what to do."""
    if both:
        what = "holds both requirements.txt and pyproject.toml"
        return f"{directory} {what}", 'say which with requirements = "…" or project = "…"'
    is_there = os.path.isdir(directory)
    what = "holds neither requirements.txt nor pyproject.toml" if is_there else "is no directory"
    return f"{directory} {what}", "correct the path, or give a source"


def _editable(directory: str, table: dict[str, Any], path: Path, report: Report) -> Source:
    if "groups" in table:
        what = f"{directory} has no uv.lock, so its dependency groups cannot be told"
        report.conflict((*path, "groups"), what, f"run `uv lock --project {directory}`")
    extras = ",".join(table.get("extras", ()))
    line = f"-e .[{extras}]" if extras else "-e ."
    found = _with_files(directory, (), (line,))
    if found == RequirementsSource(requirements=(), extra_requirements=(line,), base=directory):
        return InlineSource(requirements=(line,), base=directory)
    return found


def _with_files(directory: str, requirements: tuple[str, ...], lines: tuple[str, ...]) -> RequirementsSource:
    def present(name: str) -> tuple[str, ...]:
        file = os.path.join(directory, name)
        return (file,) if os.path.isfile(file) else ()

    return RequirementsSource(
        requirements=requirements,
        constraints=present("constraints.txt"),
        overrides=present("overrides.txt"),
        build_constraints=present("build-constraints.txt"),
        extra_requirements=lines,
        base="" if requirements else directory,
        config=next(iter(present("uv.toml")), None),
    )


def own_request(directory: str, report: Report) -> tuple[str | None, Origin | None]:
    """Return the request in a directory's own ``.python-version``, never in a parent's, and its place.

    As uv does, the first line counts that is neither empty nor a comment.
    """
    file = os.path.join(directory, ".python-version")
    if not os.path.lexists(file):
        return None, None
    try:
        text = content(file).decode("utf-8-sig")
    except Fault as fault:
        report.fault(fault)
        return None, None
    except UnicodeDecodeError as error:
        report.fault(Fault("unreadable", f"is not UTF-8: {error.reason}", file))
        return None, None
    for number, line in enumerate(text.splitlines(), 1):
        request = line.partition("#")[0].strip()
        if request:
            return request, Origin(file=file, line=number, key="")
    return None, None
