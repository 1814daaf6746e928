"""Move environments between stores: pack one, unpack one, put them somewhere, get them from there."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING

from greenroom.builder.events import Note
from greenroom.components import StoreOptions
from greenroom.declaration import reading
from greenroom.errors import (
    ArchiveAbsent,
    DeclarationNotFound,
    GreenroomError,
    InterruptedRunError,
    StoreFailed,
)
from greenroom.store import layout
from greenroom.store.archive import packing, places, unpacking
from greenroom.store.model import State
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from greenroom.builder.events import Observer
    from greenroom.project.model import Plan, Planned
    from greenroom.store.archive.packing import Packed
    from greenroom.store.archive.places import Place
    from greenroom.store.archive.unpacking import Unpacked
    from greenroom.store.layout import Store

__all__ = ["Pushed", "fetch", "fetch_one", "pack", "push", "unpack"]

AT_ONCE = 4
"""Archives that are fetched at the same time."""
_PIECE = 1 << 18
_SIZE_WORDS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """An environment that was put somewhere, or why it was not."""

    planned: Planned
    url: str
    packed: Packed | None
    error: GreenroomError | None = None


def pack(plan: Plan, name: str, path: str | None) -> Packed:
    """Write the archive of a component's environment.

    :param plan: of this component.
    :param path: the file, which is there as a whole or not at all; None: standard output.
    :raises PackRefused: the environment is not ready, or holds what no archive can.
    :raises StoreFailed: the file cannot be written.
    """
    found = next(each for each in plan.environments if name in each.components)
    if path is None:
        return packing.pack(found.store, found.key, sys.stdout.buffer.write)
    with _written(path) as write:
        return packing.pack(found.store, found.key, write)


def unpack(start: str | None, environ: Mapping[str, str], path: str | None) -> Unpacked:
    """Bring an archive's environment into the store that builds; no declaration is needed.

    :param path: the file; None: standard input.
    :raises ArchiveRefused: it is damaged or names what may not be written; nothing of it is left.
    :raises ArchiveForeign: it is for another machine, interpreter or place of local sources.
    :raises NoStoreWritable: no store can be written.
    """
    try:
        options = reading.read(reading.find_declaration(start, environ), environ).store
    except DeclarationNotFound:
        options = StoreOptions()
    store = layout.building(layout.stores(options, environ))
    source = path or "standard input"
    with Group() as group:
        return unpacking.unpack(store, _pieces(path), source=source, group=group, environ=environ)


def push(plan: Plan, url: str) -> Iterator[Pushed]:
    """Put the archive of each environment of a plan somewhere, one after the other.

    :raises PlaceRefused: the URL names no place for archives.
    """
    place = places.place(url)
    for found in plan.environments:
        where = place.address(found.key)
        try:
            packed = _put(place, found)
        except GreenroomError as error:
            yield Pushed(planned=found, url=where, packed=None, error=error)
        else:
            yield Pushed(planned=found, url=where, packed=packed)


def fetch(
    wanted: Sequence[Planned], url: str, store: Store, environ: Mapping[str, str], observer: Observer
) -> tuple[Unpacked, ...]:
    """Get environments that are missing from where archives are kept; what cannot be got is left out.

    What is the matter with those is told as a note: whoever asked builds them.

    :param store: the store that builds.
    :raises PlaceRefused: the URL names no place for archives.
    :raises InterruptedRunError: Ctrl-C.
    """
    place = places.place(url)
    missing = [found for found in wanted if found.state == State.MISSING]
    stopped = threading.Event()
    got = []
    with Group() as group, ThreadPoolExecutor(AT_ONCE, thread_name_prefix="greenroom-fetch") as pool:

        def one(found: Planned) -> Unpacked | GreenroomError:
            try:
                return unpacking.unpack(
                    store,
                    _watched(place.get(found.key), stopped),
                    source=place.address(found.key),
                    group=group,
                    environ=environ,
                    expected=found.key,
                )
            except GreenroomError as error:
                return error

        work = {pool.submit(one, found): found for found in missing}
        try:
            for done in as_completed(work):
                found, result = work[done], done.result()
                if isinstance(result, GreenroomError):
                    observer(_note(found, _why_not(result)))
                else:
                    got.append(result)
                    observer(_note(found, f"fetched {_amount(result)} from {place.address(found.key)}"))
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(got)


def fetch_one(key: str, url: str, store: Store, environ: Mapping[str, str]) -> Unpacked:
    """Get one environment by its key: neither its declaration nor its locks are needed.

    :raises PlaceRefused: the URL names no place for archives.
    :raises ArchiveAbsent: it is not there.
    :raises PlaceFailed: the place does not answer.
    :raises ArchiveRefused: what is there is damaged.
    :raises ArchiveForeign: it is for another machine or interpreter.
    """
    place = places.place(url)
    with Group() as group:
        return unpacking.unpack(
            store,
            place.get(key),
            source=place.address(key),
            group=group,
            environ=environ,
            expected=key,
        )


def _why_not(error: GreenroomError) -> str:
    if isinstance(error, ArchiveAbsent):
        return f"is not at {error.url}"
    return f"not taken from an archive: {error.where}: {error.what}"


def _note(found: Planned, text: str) -> Note:
    return Note(key=found.key, text=f"{', '.join(found.components)}: {text}", at=time.monotonic())


def _amount(got: Unpacked) -> str:
    return f"{got.files} files, {got.size / _SIZE_WORDS:.0f} MB,"


def _put(place: Place, found: Planned) -> Packed:
    # As a file first: a web server wants to know the size, and a half archive must never be seen.
    folder = None
    if found.store.writable:
        layout.prepare(found.store)
        folder = found.store.building
    try:
        descriptor, path = tempfile.mkstemp(prefix=f"{found.key}.", suffix=".tar.zst", dir=folder)
    except OSError as error:
        raise StoreFailed.of("pack the environment", folder or tempfile.gettempdir(), error) from error
    try:
        with open(descriptor, "wb") as file:
            packed = packing.pack(found.store, found.key, file.write)
        place.put(found.key, path)
    finally:
        os.unlink(path)
    return packed


@contextmanager
def _written(path: str) -> Iterator[Callable[[bytes], object]]:
    """Write a file that takes its name when it is whole."""
    temporary = f"{path}.{token_hex(6)}"
    try:
        try:
            with open(temporary, "xb") as file:
                yield file.write
            os.rename(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise StoreFailed.of("write the archive", error.filename or path, error) from error


def _pieces(path: str | None) -> Iterator[bytes]:
    try:
        with sys.stdin.buffer if path is None else open(path, "rb") as file:
            while piece := file.read(_PIECE):
                yield piece
    except OSError as error:
        raise StoreFailed.of("read the archive", path or "standard input", error) from error


def _watched(pieces: Iterable[bytes], stopped: threading.Event) -> Iterator[bytes]:
    for piece in pieces:
        if stopped.is_set():
            raise InterruptedRunError("stopped; nothing incomplete counts as ready")
        yield piece
