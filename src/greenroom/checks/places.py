"""Check the places that environments are built in: space, devices, modes."""

from __future__ import annotations

import os

from greenroom.checks.files import amount, needed_files
from greenroom.checks.model import Finding, Severity
from greenroom.errors import GreenroomError
from greenroom.recipes.model import Wheel
from greenroom.store import layout, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from greenroom.checks.facts import Facts, Wanted
    from greenroom.store.layout import Store

__all__ = ["check", "uv_cache"]

_UNPACKED = 3
"""Wheels unpack to about three times their size; only used where no earlier build tells."""


def check(facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the store's place, and who cannot use what is built there."""
    missing = [wanted for wanted in facts.wanted if not facts.is_ready(wanted)]
    if facts.stores and missing:
        try:
            store = layout.building(facts.stores)
        except GreenroomError as error:
            yield _read_only(error, missing)
        else:
            yield from _space(facts, store, missing)
            yield from _devices(facts, store)
    yield from _closed(facts)


def _read_only(error: GreenroomError, missing: list[Wanted]) -> Finding:
    return Finding(
        check="store",
        severity=Severity.ERROR,
        what=error.what,
        where=error.where,
        todo=error.todo,
        components=tuple(name for wanted in missing for name in wanted.names),
    )


def _space(facts: Facts, store: Store, missing: list[Wanted]) -> Iterator[Finding]:
    """Compare the free space with what the missing environments need, as far as that can be told."""
    place = _existing(store.path)
    try:
        disk = os.statvfs(place)
    except OSError:
        return
    free = disk.f_bavail * disk.f_frsize
    least, likely = _needs(facts, missing)
    if likely <= free:
        return
    sure = least > free
    yield Finding(
        check="space",
        severity=Severity.ERROR if sure else Severity.WARNING,
        what=f"{amount(free)} are free, ≈ {amount(likely)} are needed for what is missing",
        where=store.path,
        todo="free space (greenroom gc), or let GREENROOM_STORE name another disk",
        components=tuple(name for wanted in missing for name in wanted.names),
    )


def _needs(facts: Facts, missing: list[Wanted]) -> tuple[int, int]:
    """Return the bytes that are needed at least and likely: a file counts once, links cost nothing."""
    known = _installed_sizes(facts.stores)
    wheels = {
        one.content.sha256
        for wanted in missing
        if wanted.recipe is not None
        for one in wanted.recipe.distributions
        if isinstance(one.content, Wheel)
    }
    least = likely = sum(known[sha256] for sha256 in wheels if sha256 in known)
    for place, (_, size) in needed_files(missing).items():
        if place not in known:
            least += size or 0
            likely += _UNPACKED * (size or 0)
    return least, likely


def _installed_sizes(stores: Iterable[Store]) -> dict[str, int]:
    """Return the bytes of distributions that were installed before: wheel's digest -> bytes."""
    found: dict[str, int] = {}
    for store in stores:
        try:
            keys = layout.keys(store)
        except GreenroomError:
            continue
        for key in keys:
            try:
                record = records.read(store, key)
            except GreenroomError:
                continue
            for one in record.installed if record else ():
                if one.wheel is not None:
                    found[one.wheel] = one.size
    return found


def _devices(facts: Facts, store: Store) -> Iterator[Finding]:
    """Say that files will be copied where uv's cache is on another file system."""
    cache = uv_cache(facts)
    if cache is None or _device(cache) == _device(store.path):
        return
    yield Finding(
        check="store",
        severity=Severity.NOTE,
        what=f"uv's cache {cache} is on another file system than the store: files are copied, then linked",
        where=store.path,
        todo="let UV_CACHE_DIR name a directory beside the store",
    )


def uv_cache(facts: Facts) -> str | None:
    """Return the directory of uv's cache, None where it cannot be told.

    https://docs.astral.sh/uv/reference/storage/
    """
    from greenroom.uv.settings import transport  # noqa: PLC0415 - not when nothing is missing

    named = facts.environ.get("UV_CACHE_DIR")
    try:
        said = dict(transport(facts.environ).values).get("cache-dir")
    except GreenroomError:
        said = None
    home = facts.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(home):
        home = os.path.join(facts.environ.get("HOME") or os.path.expanduser("~"), ".cache")
    place = named or (said.strip("\"'") if said else os.path.join(home, "uv"))
    return os.path.abspath(place) if place else None


def _closed(facts: Facts) -> Iterator[Finding]:
    """Say once which folders other users cannot enter: what is built there is the builder's alone."""
    found = (wanted.interpreter for wanted in facts.wanted if not wanted.assumed)
    paths = [*(store.path for store in facts.stores), *(python.path for python in found if python)]
    closed = list(dict.fromkeys(folder for path in paths for folder in _closed_folders(path)))
    if not closed:
        return
    places = [path for path in dict.fromkeys(paths) if any(_below(path, folder) for folder in closed)]
    yield Finding(
        check="modes",
        severity=Severity.NOTE,
        what=f"other users cannot enter {' and '.join(closed)}, and so not use {', '.join(places)}",
        todo="only where others are to launch: build with an interpreter and a store that all can read",
    )


def _closed_folders(path: str) -> Iterator[str]:
    """Yield the topmost folder of a path that only its owner or group may enter."""
    parts = path.split("/")
    for count in range(2, len(parts) + 1):
        folder = "/".join(parts[:count])
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
