"""Compare the files of an environment with the rows of its RECORDs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from stat import S_ISLNK, S_ISREG

from greenroom.store.model import Clash, Fault, Finding
from greenroom.store.rows import Found, file_digest, hexadecimal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Owned", "Scan", "clashes_of", "owned", "scan"]

Owner = tuple[str, str, int]
"""Distribution, digest as RECORD spells it, size."""
Source = tuple[str, str, str]
"""A Python file's path relative to the environment, its sha256 (hexadecimal; empty where no single
RECORD says it), and its distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Which distributions own which paths (relative to the environment)."""

    first: dict[str, Owner]
    """The first owner of each path: nearly always the only one."""
    shared: dict[str, list[Owner]]
    """Every owner of a path that has several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What the files are, against what RECORDs say."""

    findings: tuple[Finding, ...]
    clashes: tuple[Clash, ...]
    sources: tuple[Source, ...]
    shipped: frozenset[str]
    """Bytecode that wheels brought themselves."""
    irregular: bool
    """Whether somebody cannot read a file, or others can write it."""
    sizes: dict[str, int]
    """Bytes on disk for each distribution's first-owned files."""


def owned(found: Sequence[Found]) -> Owned:
    """Return the owners of every path that a RECORD names."""
    first: dict[str, Owner] = {}
    shared: dict[str, list[Owner]] = {}
    for item in found:
        name = item.name
        for path, digest, size in item.rows:
            if path not in first:
                first[path] = (name, digest, size)
            elif path in shared:
                shared[path].append((name, digest, size))
            else:
                shared[path] = [first[path], (name, digest, size)]
    return Owned(first=first, shared=shared)


def clashes_of(paths: Owned, last: Sequence[str]) -> dict[str, Clash]:
    """Return the paths whose owners differ, each with the winner: the one installed last of ``last``.

    An owner whose RECORD says no digest differs from nobody.
    """
    clashes = {}
    for path, owners in paths.shared.items():
        if len({(digest, size) for _, digest, size in owners if digest}) < 2:
            continue
        names = dict.fromkeys(name for name, _, _ in owners)
        winner = next((name for name in reversed(last) if name in names), None)
        clashes[path] = Clash(path=path, owners=tuple(names), winner=winner)
    return clashes


def scan(  # noqa: PLR0913 - all but three by name
    root: str,
    site: str,
    found: Sequence[Found],
    *,
    last: Sequence[str] = (),
    faults: Sequence[Fault] = (),
    deep: bool = False,
    sources: bool = True,
) -> Scan:
    """Look at every row of every RECORD: one ``lstat`` each, a digest too when ``deep``.

    A path of several owners that differ is the winner's, when one is named; else it has to be one
    of theirs.

    :param root: the environment's directory, absolute.
    :param site: its ``site-packages``, relative to ``root``.
    :param last: the packages installed last: winners of clashes.
    :param faults: rows that are wrong in the packages themselves, with what is right.
    :param sources: whether the sources are listed with their digests: only bytecode needs them.
    """
    paths = owned(found)
    clashes = clashes_of(paths, last)
    known = {fault.path: fault for fault in faults}
    sizes = dict.fromkeys((item.name for item in found), 0)
    findings: list[Finding] = []
    common, any_ = 0o777, 0
    for path, owner in paths.first.items():
        name, digest, size = owner
        try:
            status = os.lstat(f"{root}/{path}")
        except OSError as error:
            findings.append(_missing(name, path, error))
            continue
        sizes[name] += status.st_size
        common &= status.st_mode
        any_ |= status.st_mode
        plain = S_ISREG(status.st_mode) and path not in clashes and path not in known
        if plain and (size < 0 or status.st_size == size) and not (deep and digest):
            continue
        allowed = _allowed(path, paths, clashes, known)
        findings += _closer(f"{root}/{path}", path, allowed, status)
    return Scan(
        findings=tuple(findings),
        clashes=tuple(clashes.values()),
        sources=tuple(_sources(f"{site}/", paths, clashes, known)) if sources else (),
        shipped=frozenset(path for path in paths.first if path.endswith(".pyc")),
        irregular=common & 0o444 != 0o444 or any_ & 0o022 != 0,
        sizes=sizes,
    )


def _allowed(path: str, paths: Owned, clashes: dict[str, Clash], known: dict[str, Fault]) -> list[Owner]:
    """Return what may stand at a path: whoever wins a clash, what a faulty package really brings."""
    owners = paths.shared.get(path) or [paths.first[path]]
    fault = known.get(path)
    if fault is not None:
        return [(fault.distribution, f"hex:{fault.sha256}", fault.size)]
    clash = clashes.get(path)
    if clash is not None and clash.winner is not None:
        return [owner for owner in owners if owner[0] == clash.winner]
    return owners


def _closer(place: str, path: str, allowed: list[Owner], status: os.stat_result) -> list[Finding]:
    name, _, _ = allowed[0]
    if path.startswith(("/", "../")):
        return [
            Finding(kind="record", distribution=name, path=path, message="lies outside of the environment")
        ]
    if not S_ISREG(status.st_mode):
        what = f"a link to {os.readlink(place)}" if S_ISLNK(status.st_mode) else "no file"
        return [
            Finding(kind="type", distribution=name, path=path, message=f"is {what}, not a file of its own")
        ]
    try:
        digest = file_digest(place)
    except OSError as error:
        return [_missing(name, path, error)]
    if any(_fits(owner, status.st_size, digest) for owner in allowed):
        return []
    return [_differs(allowed[0], path, status.st_size, digest)]


def _fits(owner: Owner, size: int, digest: str) -> bool:
    _, said, said_size = owner
    return (said_size < 0 or said_size == size) and (not said or _hexadecimal(said) == digest)


def _differs(owner: Owner, path: str, size: int, digest: str) -> Finding:
    name, _, said = owner
    if said >= 0 and said != size:
        kind, message = "size", f"has {size} bytes, RECORD says {said}"
    else:
        kind, message = "edited", "its content is not what RECORD says"
    return Finding(kind=kind, distribution=name, path=path, message=message, size=size, sha256=digest)


def _missing(name: str, path: str, error: OSError) -> Finding:
    message = "is missing" if isinstance(error, FileNotFoundError) else f"unreadable: {error.strerror}"
    return Finding(kind="missing", distribution=name, path=path, message=message)


def _sources(
    prefix: str, paths: Owned, clashes: dict[str, Clash], known: dict[str, Fault]
) -> Iterator[Source]:
    for path, (name, digest, size) in paths.first.items():
        if path.endswith(".py") and path.startswith(prefix):
            # A digest counts where it is undisputed and the size agreed with it.
            certain = digest and size >= 0 and path not in clashes and path not in known
            yield path, _hexadecimal(digest) if certain else "", name


def _hexadecimal(digest: str) -> str:
    if digest.startswith("hex:"):
        return digest[4:]
    try:
        return hexadecimal(digest)
    except ValueError:
        return ""
