"""Check the places that environments are built in as they are now: space, devices, modes.

Cheap, and never remembered: a disk fills up between two checks.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from greenroom.checks.model import Finding, Severity
from greenroom.checks.words import amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Needs", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What the missing environments need of the places that they are built in."""

    stores: tuple[tuple[str, bool], ...]
    """Path and whether it is writable, in the order in which they are searched."""
    missing: tuple[str, ...]
    """Components whose environments are not ready."""
    least: int
    """Bytes that are needed at the least: what is downloaded, or was installed before."""
    likely: int
    """Bytes that are likely needed."""
    cache: str
    """uv's cache."""
    paths: tuple[str, ...]
    """What others must be able to enter where others launch: stores and interpreters."""


def check(needs: Needs) -> Iterator[Finding]:
    """Yield what is wrong with the store's place, and who cannot use what is built there."""
    if needs.stores and needs.missing:
        store = next((path for path, writable in needs.stores if writable), None)
        if store is None:
            yield _read_only(needs)
        else:
            yield from _space(store, needs)
            yield from _devices(store, needs.cache)
    yield from _closed(needs.paths)


def _read_only(needs: Needs) -> Finding:
    return Finding(
        check="store",
        severity=Severity.ERROR,
        what=f"no store is writable: {', '.join(path for path, _ in needs.stores)}",
        todo="let GREENROOM_STORE name a writable directory first",
        components=needs.missing,
    )


def _space(store: str, needs: Needs) -> Iterator[Finding]:
    """Compare the free space with what is needed, as far as that can be told."""
    try:
        disk = os.statvfs(_existing(store))
    except OSError:
        return
    free = disk.f_bavail * disk.f_frsize
    if needs.likely <= free:
        return
    yield Finding(
        check="space",
        severity=Severity.ERROR if needs.least > free else Severity.WARNING,
        what=f"{amount(free)} are free, ≈ {amount(needs.likely)} are needed for what is missing",
        where=store,
        todo="free space (greenroom gc), or let GREENROOM_STORE name another disk",
        components=needs.missing,
    )


def _devices(store: str, cache: str) -> Iterator[Finding]:
    """Say that files will be copied where uv's cache is on another file system."""
    if _device(cache) == _device(store):
        return
    yield Finding(
        check="store",
        severity=Severity.NOTE,
        what=f"uv's cache {cache} is on another file system than the store: files are copied, then linked",
        where=store,
        todo="let UV_CACHE_DIR name a directory beside the store",
    )


def _closed(paths: tuple[str, ...]) -> Iterator[Finding]:
    """Say once which folders others cannot enter: what is built there is the builder's alone."""
    closed = list(dict.fromkeys(folder for path in paths for folder in _closed_folders(path)))
    if not closed:
        return
    places = [path for path in paths if any(_below(path, folder) for folder in closed)]
    yield Finding(
        check="modes",
        severity=Severity.NOTE,
        what=f"other users cannot enter {' and '.join(closed)}, and so not use {', '.join(places)}",
        todo="only where others are to launch: build with an interpreter and a store that all can read",
    )


def _closed_folders(path: str) -> Iterator[str]:
    """Yield the topmost folder of a path that others may not enter."""
    parts = path.split("/")
    for length in range(2, len(parts) + 1):
        folder = "/".join(parts[:length])
        try:
            mode = os.stat(folder).st_mode
        except OSError:
            return
        if not mode & 0o001:
            yield folder
            return


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _device(path: str) -> int | None:
    try:
        return os.stat(_existing(path)).st_dev
    except OSError:
        return None


def _existing(path: str) -> str:
    while not os.path.lexists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path
