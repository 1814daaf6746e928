"""Tell what must be built from source here, and how much must be downloaded."""

from __future__ import annotations

import os

from greenroom.checks.facts import projects_of
from greenroom.checks.model import Finding, Severity
from greenroom.checks.words import amount, count, few
from greenroom.errors import GreenroomError
from greenroom.locks import projects, staleness, uvlock
from greenroom.recipes.model import Build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.checks.facts import Facts, Wanted
    from greenroom.recipes.model import Origins

__all__ = ["check", "needed_files"]


def check(facts: Facts) -> Iterator[Finding]:
    """Yield the packages that are built from source, the sizes, and what cannot be known here."""
    yield from _builds(facts.missing)
    yield from _downloads(facts.missing)
    yield from _notes(facts)


def _builds(missing: Iterable[Wanted]) -> Iterator[Finding]:
    """Yield once what has no wheel for this platform: a compiler and time may be needed."""
    users: dict[str, dict[str, None]] = {}
    for wanted in missing:
        if wanted.recipe is None or wanted.supply is None:
            continue
        for one, origin in zip(wanted.recipe.distributions, wanted.supply.origins, strict=True):
            if isinstance(one.content, Build):
                text = f"{one.name} {one.version or ''}".rstrip() + f" ({_kind(origin)})"
                users.setdefault(text, {}).update(dict.fromkeys(wanted.names))
    if not users:
        return
    yield Finding(
        check="wheels",
        severity=Severity.NOTE,
        what=f"{count(len(users), 'package')} {'has' if len(users) == 1 else 'have'} no wheel for this"
        f" platform and {'is' if len(users) == 1 else 'are'} built here: {few(sorted(users))}",
        todo="compilers and headers that they need must be here",
        components=tuple(dict.fromkeys(name for names in users.values() for name in names)),
    )


def _kind(origin: Origins) -> str:
    if origin.commit is not None:
        return "git"
    return "a directory" if origin.directory is not None else "source archive"


def needed_files(missing: Iterable[Wanted]) -> dict[str, tuple[str, int | None]]:
    """Return what must be fetched for some environments: a file's digest or place -> package, bytes."""
    found: dict[str, tuple[str, int | None]] = {}
    for wanted in missing:
        for origin in wanted.supply.origins if wanted.supply else ():
            if origin.file is not None and "://" in origin.file.location:
                found[origin.file.sha256 or origin.file.location] = (origin.name, origin.file.size)
            elif origin.commit is not None:
                found[f"{origin.commit.url}@{origin.commit.commit}"] = (origin.name, None)
    return found


def _downloads(missing: Iterable[Wanted]) -> Iterator[Finding]:
    files = needed_files(missing).values()
    unknown = sorted({name for name, size in files if size is None})
    known = [size for _, size in files if size is not None]
    if not files:
        return
    what = f"{amount(sum(known))} to download in {count(len(known), 'file')}, unless uv has them cached"
    if unknown:
        what += f"; the size of {len(unknown)} more is not known: {few(unknown)}"
    components = tuple(name for wanted in missing if wanted.supply for name in wanted.names)
    yield Finding(check="sizes", severity=Severity.NOTE, what=what, components=components)


def _notes(facts: Facts) -> Iterator[Finding]:
    """Yield what the locks cannot say here, and once which local sources are absent."""
    absent: dict[str, None] = {}
    said: set[str] = set()
    for directory in projects_of(facts.declaration):
        names = _absent(directory)
        absent |= dict.fromkeys(names)
        # Said with the packages: a lock cannot be compared with what is absent.
        said |= set(staleness.of(directory).notes) if names else set()
    for wanted in facts.wanted:
        for note in wanted.selection.notes if wanted.selection else ():
            if note not in said:
                yield Finding(check="sources", severity=Severity.NOTE, what=note, components=wanted.names)
    if absent:
        yield Finding(
            check="sources",
            severity=Severity.NOTE,
            what=f"the sources of {count(len(absent), 'local package')} are absent: {few(sorted(absent))}",
            todo="environments are finished where the sources are; here the lock is taken as it is for them",
            components=tuple(
                name for wanted in facts.wanted if _has(wanted, absent) for name in wanted.names
            ),
        )


def _absent(directory: str) -> list[str]:
    """Return the local packages of a project's lock whose directories are not here."""
    try:
        lock = uvlock.load(os.path.join(directory, "uv.lock"))
    except GreenroomError:  # said where it is read
        return []
    return [name for name, place in projects.local_sources(lock).items() if not os.path.isdir(place)]


def _has(wanted: Wanted, names: Mapping[str, None]) -> bool:
    return wanted.selection is not None and any(one.name in names for one in wanted.selection.distributions)
