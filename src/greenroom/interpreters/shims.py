"""See through shims: scripts whose answer depends on the working directory.

pyenv, asdf and mise put one directory of them on PATH, beside the directory of what they choose from.
"""

from __future__ import annotations

import os
import re

from greenroom.interpreters.asking import MINIMUM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["behind", "unwrapped"]

_SHIMS = "shims"
_INSTALLATIONS = ("versions", os.path.join("installs", "python"))
_LEADING = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?(.*)", re.ASCII)


def behind(path: str) -> str | None:
    """Return the newest program that a shim stands for; None when ``path`` is no shim.

    Asked only where the shim itself, called without any choice, does not work.
    """
    directory, name = os.path.split(path)
    for programs in _bins(directory):
        program = os.path.join(programs, name)
        if os.path.isfile(program):
            return program
    return None


def unwrapped(path: str) -> str:
    """Return a PATH in which directories of shims are replaced by what they choose from.

    Relative entries, which mean the working directory, are left out.
    """
    entries: list[str] = []
    for entry in path.split(os.pathsep):
        if os.path.basename(entry.rstrip("/")) == _SHIMS:
            entries += _bins(entry)
        elif os.path.isabs(entry):
            entries.append(entry)
    return os.pathsep.join(dict.fromkeys(entries))


def _bins(shims: str) -> Iterator[str]:
    """Yield the ``bin`` directories of a tool's installations, newest Python first."""
    root, name = os.path.split(shims.rstrip("/"))
    if name != _SHIMS:
        return
    for kind in _INSTALLATIONS:
        place = os.path.join(root, kind)
        try:
            found = os.listdir(place)
        except OSError:
            continue
        for version in sorted(filter(_may_do, found), key=_age, reverse=True):
            programs = os.path.join(place, version, "bin")
            # pyenv keeps virtual environments there too.
            environment = os.path.exists(os.path.join(place, version, "pyvenv.cfg"))
            if os.path.isdir(programs) and not environment:
                yield programs


def _may_do(version: str) -> bool:
    """Leave out Pythons that uv cannot ask: it stops its search at the first."""
    return not (0, 0) <= _age(version)[:2] < MINIMUM


def _age(version: str) -> tuple[int, int, int, bool, str]:
    """Order names of installations: plain versions, newest last; other names before them."""
    match = _LEADING.fullmatch(version)
    if match is None:
        return (-1, -1, -1, False, version)
    major, minor, patch, rest = match.groups()
    return (int(major), int(minor or -1), int(patch or -1), not rest, rest)
