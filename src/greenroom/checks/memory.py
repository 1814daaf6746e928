"""Remember what a preflight found, and tell by stats alone whether it still holds.

One JSON file for each declaration below the user's cache, with every file and folder that was
looked at. It is only a memory: what is missing, corrupt or out of date is ignored.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from time import time_ns

from greenroom import snapshot
from greenroom.checks import places
from greenroom.checks.model import Finding
from greenroom.checks.places import Needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

__all__ = ["Found", "Remembered", "load", "save"]

_SCHEMA = 1
_DECIDING = ("GREENROOM_", "UV_", "XDG_", "PYENV_", "HOME", "PATH", "NETRC", "SSL_")
"""Beginnings of the variables that decide what is found; those that builds read are named one by one."""
_COARSE = 2 * 10**9
"""Nanoseconds: a file changed so shortly before a run could have changed again unseen, because some
file systems count in two seconds: then its content decides."""
_DIGESTED = 5_000_000
"""Bytes: of larger files (uv, interpreters) the stat alone counts."""
_PATIENCE = 600 * 10**9
"""Nanoseconds after which an interpreter that was not here is looked for again."""


class Remembered:
    """Findings of an earlier run that still hold, and what is looked at each time."""

    __slots__ = ("_findings", "_needs", "declaration", "environments")

    def __init__(self, declaration: str, data: Mapping[str, Any]) -> None:
        self.declaration = declaration
        self.environments: tuple[str, ...] = tuple(data["environments"])
        self._findings: Sequence[Mapping[str, Any]] = data["findings"]
        self._needs: Mapping[str, Any] = data["needs"]

    def findings(self) -> Iterable[Finding]:
        """Return what was found, and what the places say now."""
        for found in self._findings:
            yield Finding(**{**found, "components": tuple(found["components"])})
        needs = self._needs
        yield from places.check(
            Needs(
                stores=tuple((path, writable) for path, writable in needs["stores"]),
                missing=tuple(needs["missing"]),
                least=needs["least"],
                likely=needs["likely"],
                cache=needs["cache"],
                paths=tuple(needs["paths"]),
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A run's findings, with all that decided them."""

    asked: int
    """When the run began, ``time.time_ns()``."""
    looked: tuple[str, ...]
    """Every file and folder that was looked at, absent ones included."""
    variables: tuple[str, ...]
    """Names of further variables that decide: those that builds read."""
    impatient: bool
    """Whether something was not here that may come without a file telling: an interpreter."""
    environments: tuple[str, ...]
    """The components that have an environment."""
    findings: tuple[Finding, ...]
    needs: Needs


def load(declaration: str, environ: Mapping[str, str]) -> Remembered | None:
    """Return what was found for a declaration, None when anything that was looked at has changed."""
    file = _place(declaration, environ)
    if file is None:
        return None
    try:
        with open(file, "rb") as stream:
            if os.fstat(stream.fileno()).st_uid != os.geteuid():
                return None
            data = json.loads(stream.read())
        return Remembered(declaration, data) if _holds(data, declaration, environ) else None
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _holds(data: Mapping[str, Any], declaration: str, environ: Mapping[str, str]) -> bool:
    return (
        data["schema"] == _SCHEMA
        and data["identity"] == _identity(declaration, environ, data["variables"])
        # Not from the future either: a clock jumped back.
        and (not data["impatient"] or 0 <= time_ns() - data["written"] <= _PATIENCE)
        and all(writable == _is_writable(path) for path, writable in data["needs"]["stores"])
        and all(_same(entry, data["written"]) for entry in data["inputs"])
    )


def save(declaration: str, environ: Mapping[str, str], found: Found) -> None:
    """Remember a run's findings; nothing when an input changed meanwhile, or there is no cache."""
    file = _place(declaration, environ)
    inputs = [_look(path) for path in dict.fromkeys(found.looked)]
    if file is None or any(entry[2] is not None and entry[2] >= found.asked for entry in inputs):
        return
    names = sorted(set(found.variables))
    data = {
        "schema": _SCHEMA,
        "identity": _identity(declaration, environ, names),
        "variables": names,
        "written": found.asked,
        "impatient": found.impatient,
        "inputs": inputs,
        "environments": found.environments,
        "findings": [_plain(finding) for finding in found.findings],
        "needs": _plain(found.needs),
    }
    snapshot.save(file, data)


def _plain(value: Finding | Needs) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__slots__}


def _place(declaration: str, environ: Mapping[str, str]) -> str | None:
    beside = snapshot.place(declaration, environ)
    return None if beside is None else f"{beside.removesuffix('.json')}.check"


def _identity(declaration: str, environ: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return what decides beside files; variables may be secrets, and only their digest is kept."""
    from hashlib import sha256  # noqa: PLC0415 - not on the way of launching

    wanted = set(names)
    deciding = sorted(
        (name, value) for name, value in environ.items() if name.startswith(_DECIDING) or name in wanted
    )
    digest = sha256(repr(deciding).encode("utf-8", "surrogateescape")).hexdigest()
    return [*snapshot.identity(declaration, environ), digest]


def _look(path: str) -> list[Any]:
    found = snapshot.look(path, content=False)
    if found[1] is not None and found[1] <= _DIGESTED:
        found[4] = snapshot.digest_of(path)
    return found


def _same(entry: Sequence[Any], written: int) -> bool:
    path, size, mtime, inode, digest = entry
    now = snapshot.look(path, content=False)
    if size is None or now[1] != size:
        return bool(now[1] == size)
    if now[2] == mtime and now[3] == inode and mtime < written - _COARSE:
        return True
    return digest is not None and snapshot.digest_of(path) == digest


def _is_writable(path: str) -> bool:
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
