"""Remember what the full road found out, and tell by stats alone whether it still holds.

The no-op road: one JSON file for each declaration and surroundings, below the user's cache. It
lists every file that decided something with its stat and digest, and what came of them. It is
only a memory: what is missing, foreign, corrupt or out of date is ignored, and the full road
answers. Launching never writes it.

This module is on the start-up path of every command, so it imports next to nothing, defines no
dataclass, and imports ``hashlib`` only when a content must be compared.
"""

from __future__ import annotations

import json
import os
import sys
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "Answer",
    "Snapshot",
    "digest_of",
    "digest_of_value",
    "identity",
    "load",
    "look",
    "place",
    "save",
]

SCHEMA = 2
"""Of the file's format: another number is ignored."""

_TICK = 50_000_000
_COARSE = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was looked at could change again unseen, so
its content decides. Kernels count time in ticks of up to 10 ms; the coarsest file systems in use
count two seconds, and are known by times of whole seconds."""

_PLACES = ("GREENROOM_DRIVER", "GREENROOM_STORE", "HOME", "XDG_DATA_HOME")
"""Variables that decide which interpreter and which stores are meant."""

_DIRECTORY = -1
"""Stands for the size of a directory: what it lists decides, not its bytes."""

_PRIME = (1 << 160) - 47

_CORRUPT = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What reading a file of another form than ours can raise."""


class Answer:
    """What is known of one component, without having read a single input again."""

    def __init__(self, name: str, component: dict[str, Any], environment: dict[str, Any], state: str) -> None:
        self.name = name
        self.kind: str = component["kind"]
        self.key: str | None = component["key"]
        self.state = state
        self.environment: str | None = environment.get("path")
        """The environment's directory; None on the driver's interpreter."""
        self.interpreter: str | None = component.get("interpreter") or environment.get("interpreter")
        """The interpreter to start; None when it could not be told."""
        self.python: str = component.get("python") or environment.get("python", "")
        """Its full version; empty when it could not be told."""
        self.launch: dict[str, Any] = component["launch"]
        self.problem: str | None = component.get("problem") or environment.get("reason") or None
        """Why it is not ready, in words."""
        self.status: int = component.get("status", 0)
        """The exit status that belongs to the problem."""


class Snapshot:
    """A loaded memory whose surroundings and declaration are unchanged."""

    def __init__(self, file: str, data: dict[str, Any], now: int) -> None:
        self._file = file
        self._data = data
        self._loaded = now
        self._files: dict[int, bool] = {}
        self._bases: dict[int, bool] = {}
        self._states: dict[str, str | None] = {}
        self._touched = False

    @property
    def declaration(self) -> str:
        """Return the declaration's path."""
        return str(self._data["declaration"])

    @property
    def stores(self) -> list[str]:
        """Return the stores' paths, in the order in which they are searched."""
        return list(self._data["stores"])

    @property
    def notes(self) -> list[str]:
        """Return what is worth one line and stops nothing."""
        return list(self._data["notes"])

    @property
    def outputs_stand(self) -> bool:
        """Tell whether what a sync leaves beside environments (aliases, roots) is as it left it."""
        try:
            return all(look(entry[0], content=False)[:4] == entry[:4] for entry in self._data["outputs"])
        except _CORRUPT:  # also None: it could not leave all
            return False

    def answer(self, name: str) -> Answer | None:
        """Answer for one component; None when only the full road can."""
        try:
            component = self._data["components"].get(name)
            if component is None or component.get("fleeting") or not self._unchanged(component["files"]):
                return None
            key = component["key"]
            if key is not None:
                environment = self._data["environments"][key]
                if key not in self._states:
                    self._states[key] = self._state(key, environment)
                state = self._states[key]
                return None if state is None else Answer(name, component, environment, state)
            if component["state"] == "driver" and not self._base_stands(component["base"]):
                return None
            return Answer(name, component, {}, component["state"])
        except _CORRUPT:
            return None

    def answers(self) -> list[Answer] | None:
        """Answer for all components; None when only the full road can."""
        found: list[Answer] = []
        for name in self._data["components"]:
            answer = self.answer(name)
            if answer is None:
                return None
            found.append(answer)
        return found

    def refresh(self) -> None:
        """Write the stats anew when contents had to be compared; not for launching, which writes nothing."""
        entries = self._data["files"]
        if not self._touched or len(self._files) < len(entries) or not all(self._files.values()):
            return
        # What changes between the comparison and this look is as good as racy, and so compared again.
        self._data["files"] = [[*look(entry[0], content=False)[:4], entry[4]] for entry in entries]
        self._data["written"] = self._loaded
        save(self._file, self._data)

    @property
    def holds(self) -> bool:
        """Tell whether the declaration's own files are as they were."""
        return self._unchanged(self._data["files_of_declaration"])

    def _unchanged(self, numbers: list[int]) -> bool:
        files, known = self._data["files"], self._files
        for number in numbers:
            same = known.get(number)
            if same is None:
                same = known[number] = self._same(files[number])
            if not same:
                return False
        return True

    def _same(self, entry: list[Any]) -> bool:
        path, size, mtime, inode, digest = entry
        now = look(path, content=False)
        if size is None or now[1] is None or now[1] != size:
            return bool(now[1] == size)
        if now[2] == mtime and now[3] == inode:
            margin = _TICK if mtime % 1_000_000_000 else _COARSE
            if mtime < self._data["written"] - margin:
                return True
        self._touched = True
        return digest is not None and digest_of(path) == digest

    def _state(self, key: str, environment: dict[str, Any]) -> str | None:
        state: str = environment["state"]
        record = environment["record"]
        if record is not None:
            stands = look(record[0], content=False)[:4] == record and self._base_stands(environment["base"])
            return state if stands else None
        for store in self._data["stores"]:
            if os.path.lexists(os.path.join(store, key)):  # built meanwhile, or never in order
                return None
        return state

    def _base_stands(self, number: int) -> bool:
        same = self._bases.get(number)
        if same is None:
            path, inode, size, mtime = self._data["bases"][number]
            now = look(path, content=False)
            same = self._bases[number] = now[1:4] == [size, mtime, inode]
        return same


def identity(declaration: str, environ: Mapping[str, str]) -> list[str]:
    """Return what one memory is for: the declaration, the machine, what decides interpreters and stores."""
    from greenroom import __version__  # noqa: PLC0415 - the root imports nothing

    machine = os.uname()
    places = (environ.get(name, "") for name in _PLACES)
    return [declaration, __version__, machine.nodename, machine.machine, sys.executable, *places]


def place(declaration: str, environ: Mapping[str, str]) -> str | None:
    """Return where the memory of a declaration is kept; None when the user has no cache directory."""
    base = environ.get("XDG_CACHE_HOME") or ""
    if not base.startswith("/"):
        home = environ.get("HOME") or ""
        if not home.startswith("/"):
            return None
        base = os.path.join(home, ".cache")
    text = "\0".join(identity(declaration, environ)).encode("utf-8", "surrogateescape")
    # A remainder is digest enough for a file's name (the file holds the identity itself), and
    # spares the import of hashlib.
    return os.path.join(base, "greenroom", "projects", f"{int.from_bytes(text, 'big') % _PRIME:040x}.json")


def load(declaration: str, environ: Mapping[str, str]) -> Snapshot | None:
    """Load the memory of a declaration when its surroundings and the declaration are unchanged.

    Components' own inputs and environments are compared when they are asked for.
    """
    now = time_ns()
    file = place(declaration, environ)
    if file is None:
        return None
    try:
        with open(file, "rb") as stream:
            own = os.fstat(stream.fileno()).st_uid == os.geteuid()
            data = json.loads(stream.read()) if own else {}
        snapshot = Snapshot(file, data, now)
        return snapshot if _is_for(data, declaration, environ) and snapshot.holds else None
    except (OSError, *_CORRUPT):
        return None


def _is_for(data: dict[str, Any], declaration: str, environ: Mapping[str, str]) -> bool:
    return (
        data["schema"] == SCHEMA
        and data["identity"] == identity(declaration, environ)
        and isinstance(data["components"], dict)
        and isinstance(data["stores"], list)
        and isinstance(data["notes"], list)
        and all(digest == digest_of_value(environ.get(name)) for name, digest in data["variables"].items())
    )


def save(file: str, data: Mapping[str, Any]) -> bool:
    """Write a memory atomically; what cannot be written is left out, as it is only a memory."""
    private = f"{file}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(private, "w", encoding="utf-8") as stream:
            json.dump(data, stream, separators=(",", ":"))
        os.replace(private, file)
    except (OSError, ValueError):
        if os.path.lexists(private):
            os.remove(private)
        return False
    return True


def look(path: str, *, content: bool = True) -> list[Any]:
    """Return ``[path, size, mtime_ns, inode, sha256]``; all but the path are None for what is absent.

    :param content: whether to digest the content too; else the digest is None.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return [path, None, None, None, None]
    size = _DIRECTORY if found.st_mode & 0o170000 == 0o040000 else found.st_size
    return [path, size, found.st_mtime_ns, found.st_ino, digest_of(path) if content else None]


def digest_of(path: str) -> str | None:
    """Return the sha256 of a file's bytes or of a directory's names; None when it cannot be read."""
    try:
        if os.path.isdir(path):
            return _hexdigest("\0".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape"))
        with open(path, "rb") as stream:
            return _hexdigest(stream.read())
    except OSError:
        return None


def digest_of_value(value: str | None) -> str | None:
    """Digest a variable's value, which may be a secret; None stands for one that is not set."""
    return None if value is None else _hexdigest(value.encode("utf-8", "surrogateescape"))


def _hexdigest(data: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415 - loads a library of cryptography: only where contents count

    return sha256(data).hexdigest()
