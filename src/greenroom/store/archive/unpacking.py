"""Bring an archived environment into a store: written aside, moved, proven, and only then recorded."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from greenroom.errors import (
    ArchiveForeign,
    ArchiveRefused,
    ClashError,
    ProofFailed,
    PythonBroken,
    PythonTooOld,
    StoreFailed,
)
from greenroom.interpreters import discovery
from greenroom.recipes.model import Editable
from greenroom.store import finishing, layout, locking, machine, moving, proof, records, repair
from greenroom.store.archive import blocks, manifest, writing
from greenroom.store.archive.adopting import adopt
from greenroom.store.archive.reading import Stream
from greenroom.store.model import State
from greenroom.store.unowned import unowned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from greenroom.interpreters.model import Interpreter
    from greenroom.store.archive.manifest import Manifest
    from greenroom.store.layout import Store
    from greenroom.store.locking import Holder
    from greenroom.store.model import Record
    from greenroom.uv.process import Group

__all__ = ["Unpacked", "unpack"]

_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """An environment that is ready now."""

    key: str
    path: str
    found: bool
    """Whether it was ready already: then the archive was not read beyond its manifest."""
    files: int
    size: int
    """Bytes of the files."""
    seconds: float
    host: str
    """Where it was built."""


def unpack(  # noqa: PLR0913 - what it works on, the rest by name
    store: Store,
    pieces: Iterable[bytes],
    *,
    source: str,
    group: Group,
    environ: Mapping[str, str],
    expected: str | None = None,
    on_wait: Callable[[Holder], None] | None = None,
) -> Unpacked:
    """Make the environment of an archive ready in a store.

    Whatever fails, nothing of it is left. What is ready already stays as it is; what is damaged is
    replaced.

    :param store: a writable store.
    :param pieces: the archive's bytes, in pieces of any size; read on another thread.
    :param source: where they come from, for errors.
    :param group: the processes' group in which the environment's interpreter is started.
    :param environ: the caller's variables, for finding the base interpreter.
    :param expected: the key that it has to have; None: whatever it has.
    :raises ArchiveRefused: it is damaged, cut off, another one than expected, or names what may not be
        written.
    :raises ArchiveForeign: it is for another machine, interpreter, or place of local sources.
    :raises StoreFailed: the operating system refuses, or the disk is too small.
    """
    began = time.monotonic()
    with Stream(pieces, source) as stream:
        contents, record = _contents(stream, source)
        if expected is not None and contents.key != expected:
            raise ArchiveRefused(source, f"it holds {contents.key}, not {expected}")
        target = _target(record, source, environ)
        layout.prepare(store)
        with locking.hold(store.lock(contents.key), "unpacking", on_wait=on_wait):
            found = layout.state(store, contents.key)[0] == State.READY
            if not found:
                moving.clear_leftovers(store, contents.key)
                _bring(store, stream, contents, record, target, group=group, source=source, began=began)
    return Unpacked(
        key=contents.key,
        path=store.environment(contents.key),
        found=found,
        files=len(contents.members),
        size=contents.size,
        seconds=time.monotonic() - began,
        host=record.host,
    )


def _contents(stream: Stream, source: str) -> tuple[Manifest, Record]:
    head = stream.take(blocks.BLOCK)
    size = blocks.size_of(head)
    if not 0 < size <= manifest.LARGEST or head != blocks.header(manifest.NAME, size=size):
        raise ArchiveRefused(source, "it does not begin as an archive of greenroom's does")
    text = stream.take(size)
    stream.take(blocks.padding(size))
    return manifest.decode(text, source)


def _target(record: Record, source: str, environ: Mapping[str, str]) -> Interpreter:
    """Return this machine's base interpreter for an environment.

    :raises ArchiveForeign: there is none, or another reason why it cannot run here.
    """
    reason = machine.foreign(record)
    if reason:
        raise ArchiveForeign(source, reason)
    python = record.recipe.python
    needs = f"it needs {python.implementation} {python.version} at {python.path}"
    try:
        found = discovery.inspect(python.path, environ)
    except (PythonBroken, PythonTooOld) as error:
        raise ArchiveForeign(source, f"{needs}: {error.what}") from error
    if (found.path, found.implementation, found.version, found.abi) != (
        python.path,
        python.implementation,
        python.version,
        python.abi,
    ):
        raise ArchiveForeign(
            source, f"{needs}, here it is {found.implementation} {found.version} at {found.path}"
        )
    for item in record.recipe.distributions:
        if isinstance(item.content, Editable) and not os.path.isdir(item.content.path):
            reason = f"its local source {item.name} has to be at {item.content.path}, and is not"
            raise ArchiveForeign(source, reason)
    return found


def _bring(  # noqa: PLR0913 - the steps' inputs
    store: Store,
    stream: Stream,
    contents: Manifest,
    record: Record,
    target: Interpreter,
    *,
    group: Group,
    source: str,
    began: float,
) -> None:
    key = contents.key
    _check_space(store, contents)
    try:
        folder = tempfile.mkdtemp(prefix=f"{key}.", dir=store.building)
    except OSError as error:
        raise StoreFailed.of("unpack", store.building, error) from error
    private = f"{folder}/{os.path.basename(folder)}"
    try:
        os.mkdir(private, 0o755)
        compiled = writing.write(stream, contents, private, target.path, source)
        damaged = layout.state(store, key)[0] == State.DAMAGED
        root = (repair.put_in_place if damaged else moving.into_place)(store, private, key)
        try:
            _commit(store, root, record, target, compiled, group=group, source=source, began=began)
        except BaseException:
            with suppress(StoreFailed):
                moving.discard(store, root)
            raise
    except OSError as error:
        raise StoreFailed.of("unpack", error.filename or private, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_space(store: Store, contents: Manifest) -> None:
    """Raise before anything is written when the files do not fit on the disk."""
    try:
        disk = os.statvfs(store.building)
    except OSError as error:
        raise StoreFailed.of("unpack", store.building, error) from error
    free = disk.f_bavail * disk.f_frsize
    if contents.size > free or 0 < disk.f_files <= len(contents.members):
        reason = f"{contents.size // _MB} MB are to be unpacked, {free // _MB} MB are free"
        raise StoreFailed("unpack", store.path, reason, todo="greenroom gc, or a store on another disk")


def _commit(  # noqa: PLR0913 - the steps' inputs
    store: Store,
    root: str,
    record: Record,
    target: Interpreter,
    compiled: tuple[str, ...],
    *,
    group: Group,
    source: str,
    began: float,
) -> None:
    """Prove what was moved into place as a build's is proven, and write the record."""
    proven = _proven(root, record, group=group, source=source)
    if target.cache_tag:
        adopt(store, root, target, proven.sources, compiled)
    finishing.normalize(root, files=proven.irregular)
    finishing.flush(root)
    here = replace(
        record,
        base=(target.path, *target.stat),
        host=machine.this_host(),
        log=_log(store, record, source),
        seconds=round(time.monotonic() - began, 3),
        linked=0,
        copied=sum(item.files for item in proven.installed),
        machine=machine.this_machine(),
    )
    records.write(store, here)
    records.forget_partial(store, record.key)
    finishing.close(root)


def _proven(root: str, record: Record, *, group: Group, source: str) -> proof.Proof:
    try:
        proven, findings = proof.findings_of(
            root, record.recipe, group=group, faults=record.faults, script=True
        )
        wrong = [finding.text() for finding in findings]
        known = {item.name: item.record for item in record.installed}
        wrong += [
            f"{item.name}: its RECORD is another one"
            for item in proven.installed
            if known.get(item.name) != item.record
        ]
        wrong += [f"{path}: no package brought it" for path in unowned(root) if path not in set(record.added)]
    except (ProofFailed, ClashError) as error:
        raise ArchiveRefused(source, error.what) from error
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ArchiveRefused(source, f"its environment is not as it was proven: {wrong[0]}{more}")
    return proven


def _log(store: Store, record: Record, source: str) -> str:
    """Leave a log as a build does: what came from where."""
    name = f"{record.key}.{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.log"
    text = (
        f"environment {record.key}, built on {record.host} by greenroom {record.greenroom}, uv {record.uv}\n"
        f"unpacked from {source}\nready\n"
    )
    with suppress(OSError):  # the environment is worth more than what is said of it
        descriptor = os.open(f"{store.logs}/{name}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    return name
