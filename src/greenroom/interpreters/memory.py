"""Remember what interpreters said, so that each is asked once per machine.

One small file for each binary and each state of the machine in the user's cache. It is only a
memory: whatever is wrong with it, the interpreter is asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, fields

from greenroom.interpreters.model import Interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["recall", "remember"]

_SCHEMA = 1


def recall(path: str, stat: tuple[int, int, int], environ: Mapping[str, str]) -> Interpreter | None:
    """Return what the binary at ``path`` said when it had this stat; None when unknown.

    :param path: resolved.
    """
    try:
        with open(_file(path, environ), "rb") as file:
            table = json.load(file)
        found = _revived(table)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return found if (found.path, found.stat) == (path, stat) else None


def remember(interpreter: Interpreter, environ: Mapping[str, str]) -> None:
    """Write down what an interpreter said; where that is impossible, do nothing."""
    place = _file(interpreter.path, environ)
    private = f"{place}.{os.getpid()}"
    with suppress(OSError):
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        try:
            with open(private, "w", encoding="utf-8") as file:
                json.dump(asdict(interpreter), file)
            os.replace(private, place)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(private)


def _revived(table: dict[str, object]) -> Interpreter:
    """Make the value from JSON's lists and strings, or raise."""
    values: dict[str, object] = {}
    for field in fields(Interpreter):
        value = table[field.name]
        if field.name == "markers":
            value = tuple((_text(name), _text(entry)) for name, entry in _list(value))
        elif field.name == "tags":
            value = tuple(_text(entry) for entry in _list(value))
        elif field.name == "stat":
            inode, size, mtime = (int(entry) for entry in _list(value))
            value = (inode, size, mtime)
        else:
            value = _text(value)
        values[field.name] = value
    return Interpreter(**values)  # type: ignore[arg-type]  # each was checked above


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _file(path: str, environ: Mapping[str, str]) -> str:
    """Return the memory's place: another one for another kernel, C library or machine."""
    from greenroom.interpreters.probe import libc  # noqa: PLC0415 - a script, no module of the start-up path

    home = environ.get("XDG_CACHE_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".cache"
    )
    system = os.uname()
    state = [_SCHEMA, path, system.sysname, system.release, system.version, system.machine, libc()]
    digest = hashlib.sha256(json.dumps(state).encode()).hexdigest()[:32]
    return os.path.join(home, "greenroom", "interpreters", f"{digest}.json")
