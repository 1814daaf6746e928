"""Tell what must be built from source here, and how much must be downloaded."""

from __future__ import annotations

from greenroom.checks.model import Finding, Severity
from greenroom.recipes.model import Build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts, Wanted
    from greenroom.recipes.model import Origins

__all__ = ["amount", "check", "needed_files"]

_SHOWN = 8


def check(facts: Facts) -> Iterator[Finding]:
    """Yield the packages that are built from source, the sizes, and what cannot be known here."""
    missing = [wanted for wanted in facts.wanted if not facts.is_ready(wanted)]
    yield from _builds(missing)
    yield from _downloads(missing)
    yield from _notes(facts)


def _builds(missing: list[Wanted]) -> Iterator[Finding]:
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
        what=f"{_count(len(users), 'package')} {'has' if len(users) == 1 else 'have'} no wheel for this"
        f" platform and {'is' if len(users) == 1 else 'are'} built here: {_list(sorted(users))}",
        todo="compilers and headers that they need must be here",
        components=tuple(dict.fromkeys(name for names in users.values() for name in names)),
    )


def _kind(origin: Origins) -> str:
    if origin.commit is not None:
        return "git"
    return "a directory" if origin.directory is not None else "source archive"


def needed_files(missing: list[Wanted]) -> dict[str, tuple[str, int | None]]:
    """Return what must be fetched for some environments: a file's digest or place -> package, bytes."""
    found: dict[str, tuple[str, int | None]] = {}
    for wanted in missing:
        for origin in wanted.supply.origins if wanted.supply else ():
            if origin.file is not None and "://" in origin.file.location:
                found[origin.file.sha256 or origin.file.location] = (origin.name, origin.file.size)
            elif origin.commit is not None:
                found[f"{origin.commit.url}@{origin.commit.commit}"] = (origin.name, None)
    return found


def _downloads(missing: list[Wanted]) -> Iterator[Finding]:
    files = needed_files(missing).values()
    unknown = sorted({name for name, size in files if size is None})
    known = [size for _, size in files if size is not None]
    if not files:
        return
    what = f"{amount(sum(known))} to download in {_count(len(known), 'file')}, unless uv has them cached"
    if unknown:
        what += f"; the size of {len(unknown)} more is not known: {_list(unknown)}"
    components = tuple(name for wanted in missing if wanted.supply for name in wanted.names)
    yield Finding(check="sizes", severity=Severity.NOTE, what=what, components=components)


def _notes(facts: Facts) -> Iterator[Finding]:
    """Yield what the locks cannot say here: sources of members that are absent."""
    for wanted in facts.wanted:
        selected = wanted.selection.notes if wanted.selection else ()
        supplied = wanted.supply.notes if wanted.supply else ()
        for note in dict.fromkeys((*selected, *supplied)):
            yield Finding(check="sources", severity=Severity.NOTE, what=note, components=wanted.names)


def amount(size: int) -> str:
    """Return a number of bytes for people, in powers of ten."""
    value, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _list(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
