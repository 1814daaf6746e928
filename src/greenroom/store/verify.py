"""Compare a ready environment with its record again, whenever somebody asks."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from greenroom.errors import RecordUnreadable, StoreFailed
from greenroom.store import compiling, machine, proof, records, rows
from greenroom.store.model import Finding
from greenroom.store.smoke import smoke as run_smoke
from greenroom.store.unowned import unowned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from greenroom.store.contents import Source
    from greenroom.store.layout import Store
    from greenroom.store.model import Record
    from greenroom.store.rows import Found
    from greenroom.uv.process import Group

__all__ = ["verify"]


def verify(
    store: Store,
    key: str,
    *,
    group: Group,
    deep: bool = False,
    smoke: Mapping[str, str] | None = None,
    statements: Sequence[str] | None = None,
) -> tuple[Finding, ...]:
    """Return every difference between an environment and its record; empty: it is as it was proven.

    Missing, truncated and (``deep``) edited files, packages added, replaced or removed behind its back,
    foreign files and bytecode, a base interpreter that vanished or was replaced, editable sources
    whose directory moved, and statements that do not run.

    :param deep: compare digests of sources and bytecode too.
    :param smoke: the variables with which the smoke statements run; None: they do not.
    :param statements: the smoke statements as they are declared now; None: those of the record.
    :raises StoreFailed: the environment cannot be read.
    """
    try:
        record = records.read(store, key) or records.read_partial(store, key)
    except RecordUnreadable as error:
        return (Finding(kind="record", path=error.path, message=error.reason),)
    if record is None:
        return (
            Finding(kind="record", path=store.record(key), message="there is no record: it is not built"),
        )
    reason = machine.foreign(record)
    if reason:
        return (Finding(kind="platform", message=reason),)
    if _is_hollow(store.environment(key)):
        return (Finding(kind="missing", path="lib", message="is missing, and with it every package"),)
    base = machine.base_changed(record)
    findings = [Finding(kind="base", path=record.base[0], message=base)] if base else []
    findings += _contents(store, record, group, deep=deep, start=not base)
    if smoke is not None and not base:
        wanted = record.smoke if statements is None else statements
        findings += _smoke(store.environment(key), wanted, group, smoke)
    return tuple(findings)


def _is_hollow(root: str) -> bool:
    """Tell whether an environment has no ``site-packages`` at all, so that nothing in it can be compared."""
    try:
        rows.site_packages(root)
    except StoreFailed as error:
        if isinstance(error.__cause__, PermissionError):
            raise
        return True
    return False


def _contents(store: Store, record: Record, group: Group, *, deep: bool, start: bool) -> Iterator[Finding]:
    root = store.environment(record.key)
    proven, findings = proof.findings_of(
        root,
        record.recipe,
        group=group,
        pending=record.pending,
        faults=record.faults,
        deep=deep,
        start=start,
    )
    yield from (item for item in findings if start or item.kind != "config")
    found, _ = rows.distributions(root)
    yield from _rewritten(record, found)
    yield from _foreign(root, record, found)
    yield from _moved(root, found)
    if deep and record.recipe.bytecode:
        yield from _bytecode(store, record, proven.sources)


def _rewritten(record: Record, found: Sequence[Found]) -> Iterator[Finding]:
    """Tell which RECORDs are not those of the proof: a package was installed anew, or replaced."""
    known = {item.name: item for item in record.installed}
    for item in found:
        before = known.get(item.name)
        if before is not None and before.record != item.record:
            path = f"{item.info}/RECORD"
            message = "was rewritten since the build: the package was installed anew"
            yield Finding(kind="record", distribution=item.name, path=path, message=message)


def _foreign(root: str, record: Record, found: Sequence[Found]) -> Iterator[Finding]:
    added = set(record.added)
    for path in unowned(root, tuple(found)):
        if path not in added:
            what = (
                "bytecode without its source" if path.endswith(".pyc") else "a file that no package brought"
            )
            yield Finding(kind="foreign", path=path, message=f"is {what}")
    for path in sorted(added):
        if not os.path.lexists(f"{root}/{path}"):
            yield Finding(kind="missing", path=path, message="is missing (a post-install command made it)")


def _moved(root: str, found: Sequence[Found]) -> Iterator[Finding]:
    """Tell which local sources are not where the environment looks for them (PEP 610)."""
    for item in found:
        path = _editable(f"{root}/{item.info}/direct_url.json")
        if path is not None and not os.path.isdir(path):
            message = "the directory of the editable source is not there any more"
            yield Finding(kind="editable", distribution=item.name, path=path, message=message)


def _editable(path: str) -> str | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["dir_info"].get("editable"):
            return unquote(urlsplit(found["url"]).path)
    return None


def _bytecode(store: Store, record: Record, sources: Sequence[Source]) -> Iterator[Finding]:
    """Tell which compiled files are not the store's for their source."""
    root = store.environment(record.key)
    folders: dict[str, list[str]] = {}
    for path, digest, name in sources:
        folder, _, file = path.rpartition("/")
        pycache = f"{folder}/__pycache__"
        if pycache not in folders:
            folders[pycache] = _names(f"{root}/{pycache}")
        for compiled in folders[pycache]:
            if digest and compiled.startswith(f"{file[:-3]}.") and compiled.count(".") == file.count(".") + 1:
                place = f"{pycache}/{compiled}"
                if _differs(store, f"{root}/{place}", compiled.split(".")[-2], digest):
                    message = "is not the bytecode of its source"
                    yield Finding(kind="edited", distribution=name, path=place, message=message)


def _differs(store: Store, path: str, tag: str, digest: str) -> bool:
    with open(path, "rb") as file:
        content = file.read()
    if content[4:8] != b"\1\0\0\0":  # the interpreter compares such a file with its source itself
        return False
    caches = [name for name in _names(store.bytecode) if name.startswith(f"{tag}-")]
    for name in caches:
        with suppress(OSError):
            cached = compiling.cached(f"{store.bytecode}/{name}", digest)
            if os.path.samefile(cached, path):
                return False
            with open(cached, "rb") as file:
                if file.read() == content:
                    return False
    return True


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _smoke(
    root: str, statements: Sequence[str], group: Group, variables: Mapping[str, str]
) -> Iterator[Finding]:
    if not statements:
        return
    for item in run_smoke(root, statements, group=group, variables=variables):
        if item.error is not None:
            module = f" (import of {item.module})" if item.module else ""
            where = f" at {item.where}" if item.where else ""
            message = f"failed after {item.seconds:.1f} s{module}{where}: {item.error}"
            yield Finding(kind="smoke", path=item.statement, message=message)
