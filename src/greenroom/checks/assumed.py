"""Assume an interpreter that is not here, so that everything else can be checked without it."""

from __future__ import annotations

from dataclasses import replace

from packaging import tags
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.interpreters.model import Interpreter

__all__ = ["interpreter", "version_for"]

_PREFIXES = ("cpython@", "cpython")


def version_for(request: str) -> str | None:
    """Return the lowest full version that a request admits, None when it names no version of CPython.

    :param request: a version (``3.13``, ``3.13.2``) or specifiers (``>=3.13.14,<3.14``).
    """
    wanted = request.strip()
    for prefix in _PREFIXES:
        if wanted.lower().startswith(prefix):
            wanted = wanted[len(prefix) :].strip()
            break
    try:
        specifiers = SpecifierSet(wanted if not wanted[:1].isdigit() else f"=={wanted}.*")
    except InvalidSpecifier:
        return None
    if wanted[:1].isdigit() and wanted.count(".") >= 2:
        return wanted
    fitting = [found for found in _candidates(specifiers) if specifiers.contains(found, prereleases=True)]
    return str(min(fitting)) if fitting else None


def _candidates(specifiers: SpecifierSet) -> Iterator[Version]:
    """Yield the versions at the lower ends of the specifiers, three numbers each."""
    for specifier in specifiers:
        found = _version(specifier)
        if found is None:
            continue
        major, minor, micro = (*found.release, 0, 0)[:3]
        yield Version(f"{major}.{minor}.{micro}")
        yield Version(f"{major}.{minor}.{micro + 1}")
        # Below an upper end, and beside an excluded version, any will do.
        yield Version(f"{major}.{max(minor - 1, 0)}.0")


def _version(specifier: Specifier) -> Version | None:
    try:
        return Version(specifier.version.removesuffix(".*"))
    except InvalidVersion:
        return None


def interpreter(version: str, like: Interpreter) -> Interpreter:
    """Return what CPython of a version would be on the platform of an interpreter that is here.

    Its path is empty: there is none.
    """
    number = Version(version)
    minor = f"{number.major}.{number.minor}"
    nodot = f"{number.major}{number.minor}"
    platforms = list(dict.fromkeys(tag.rpartition("-")[2] for tag in like.tags))
    platforms = [platform for platform in platforms if platform != "any"]
    pair = (number.major, number.minor)
    found = [
        *tags.cpython_tags(pair, abis=[f"cp{nodot}"], platforms=platforms),
        *tags.compatible_tags(pair, interpreter=f"cp{nodot}", platforms=platforms),
    ]
    changed = {
        "implementation_name": "cpython",
        "implementation_version": version,
        "platform_python_implementation": "CPython",
        "python_full_version": version,
        "python_version": minor,
    }
    return replace(
        like,
        path="",
        implementation="cpython",
        version=version,
        cache_tag=f"cpython-{nodot}",
        abi=f"cp{nodot}",
        markers=tuple(sorted((dict(like.markers) | changed).items())),
        tags=tuple(str(tag) for tag in found),
        stat=(0, 0, 0),
    )
