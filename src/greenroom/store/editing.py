"""Make a private, writable copy of an environment for debugging; clearly not the store's.

No file of it is linked to anything, so that an edit stays where it is made, and no compiled bytecode
is taken along: the store's is not compared with its source, and would hide the edit.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from secrets import token_hex

from greenroom.errors import CopyRefused, EnvironmentGone, StoreFailed
from greenroom.store import rows
from greenroom.store.model import PARTIAL, RECORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.store.layout import Store

__all__ = ["copy"]

MARK = "greenroom-edit.json"
"""The file that says what a copy is and of what."""
_TEXT = 1 << 20


def copy(store: Store, key: str, directory: str, *, name: str = "") -> str:
    """Copy an environment to a directory that is not there yet, or is empty.

    :param directory: absolute; not inside the store.
    :param name: a component's name, for the prompt.
    :returns: the path of the copy.
    :raises CopyRefused: the directory holds something, or is the store's.
    :raises EnvironmentGone: the environment is not there.
    :raises StoreFailed: the operating system refuses; nothing is left.
    """
    source = store.environment(key)
    target = os.path.normpath(directory)
    _check(store, target)
    if not os.path.lexists(store.record(key)):
        raise EnvironmentGone(source)
    temporary = f"{target}.{token_hex(6)}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copytree(source, temporary, symlinks=True, ignore=_left_out, copy_function=_copy_file)
        for folder, _, _ in os.walk(temporary):
            os.chmod(folder, 0o755)  # noqa: S103 - as a new folder's
        _relocate(temporary, source, target)
        _mark(temporary, key, source, name)
        os.rename(temporary, target)
    except OSError as error:
        reason = error.strerror or str(error)
        todo = "name another directory, or free space there"
        raise StoreFailed("copy the environment", target, reason, todo=todo) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(temporary)
    return target


def _check(store: Store, target: str) -> None:
    inside = os.path.realpath(target) + "/"
    if inside.startswith(os.path.realpath(store.path) + "/"):
        raise CopyRefused(target, "it is inside the store")
    if os.path.isdir(target) and not os.path.islink(target):
        if os.listdir(target):
            raise CopyRefused(target, "it is not empty")
    elif os.path.lexists(target):
        raise CopyRefused(target, "something stands there")


def _left_out(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in {"__pycache__", RECORD, PARTIAL, ".lock"}]


def _copy_file(source: str, target: str) -> str:
    shutil.copyfile(source, target)
    os.chmod(target, os.stat(source).st_mode & 0o777 | 0o200)
    return target


def _relocate(place: str, old: str, new: str) -> None:
    """Replace the environment's path in the texts that may hold it: scripts, ``.pth``, start-up files."""
    before, after = os.fsencode(old), os.fsencode(new)
    for path in _texts(place):
        with open(path, "rb") as file:
            text = file.read()
        if before in text:
            with open(path, "wb") as file:
                file.write(text.replace(before, after))


def _texts(place: str) -> Iterator[str]:
    site = f"{place}/{rows.site_packages(place)}"
    paths = [f"{place}/bin/{name}" for name in os.listdir(f"{place}/bin")]
    paths += [f"{site}/{name}" for name in os.listdir(site) if name.endswith(".pth")]
    for path in paths:
        if not os.path.islink(path) and os.path.isfile(path) and os.path.getsize(path) < _TEXT:
            yield path


def _mark(place: str, key: str, source: str, name: str) -> None:
    with open(f"{place}/pyvenv.cfg", "a", encoding="utf-8") as file:
        file.write(f"prompt = edit-{' '.join(name.split()) or key}\n")
    about = {
        "copy of": key,
        "from": source,
        "note": "a private copy for debugging; greenroom never starts it",
    }
    with open(f"{place}/{MARK}", "w", encoding="utf-8") as file:
        json.dump(about, file, indent=2)
