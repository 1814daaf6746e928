"""Find the declaration as the no-op road may: by walking up, without parsing anything."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["locate"]


def locate(start: str | None, environ: Mapping[str, str]) -> str | None:
    """Find the declaration by walking up, without parsing anything.

    :param start: the directory (or declaration file) to begin with; None: ``GREENROOM_PROJECT``,
        else the working directory.
    :param environ: the caller's variables.
    :returns: the declaration's path; None when there is none or only a parser can tell.
    """
    try:
        place = start or environ.get("GREENROOM_PROJECT") or os.getcwd()
        if os.path.isfile(place):
            return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        folder = os.path.realpath(place)
    except (OSError, ValueError):  # the working directory vanished: the full road says so
        return None
    while True:
        own = os.path.join(folder, "greenroom.toml")
        if os.path.lexists(own):
            return own
        shared = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(shared):
            says = _declares(shared)
            if says is not False:
                return shared if says else None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _declares(path: str) -> bool | None:
    """Tell whether a ``pyproject.toml`` has ``[tool.greenroom]``; None when only a parser can."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    if b"greenroom" not in data:
        return False
    for line in data.split(b"\n"):
        if line.replace(b" ", b"").startswith((b"[tool.greenroom]", b"[tool.greenroom.")):
            return True
    return None
