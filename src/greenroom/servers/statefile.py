"""The state on the disk: for other terminals when the supervisor is no more."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from greenroom.servers import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.servers.loop import Loop, Timer
    from greenroom.servers.places import Places

__all__ = ["StateFile", "orphans", "read"]

SCHEMA = 1
_PAUSE = 0.05
"""Seconds in which changes are gathered before they are written."""


class StateFile:
    """Writes the state after changes; atomically, so that a crash leaves the one or the other."""

    def __init__(self, loop: Loop, places: Places, status: Callable[[], dict[str, Any]]) -> None:
        self._loop, self._path, self._status = loop, places.state, status
        self._timer: Timer | None = None

    def touch(self, _: str) -> None:
        """Write soon."""
        if self._timer is None:
            self._timer = self._loop.after(_PAUSE, self.write)

    def write(self) -> None:
        """Write now; a full disk stops nothing."""
        self._timer = None
        data = {"schema": SCHEMA, **self._status()}
        for unit in data["units"]:
            unit["born"] = None if unit["pid"] is None else tree.born(unit["pid"])
            del unit["tail"]
        private = f"{self._path}.new"
        with suppress(OSError):
            descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(data, stream)
            os.replace(private, self._path)


def read(places: Places) -> dict[str, Any] | None:
    """Return what the last supervisor wrote; None when there is nothing that can be read."""
    try:
        with open(places.state, encoding="utf-8") as stream:
            data = json.load(stream)
        return data if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    except (OSError, ValueError):
        return None


def orphans(places: Places) -> list[dict[str, Any]]:
    """Return the units whose processes live on although their supervisor does not."""
    found = read(places) or {"units": []}
    return [
        unit
        for unit in found["units"]
        if unit["pid"] is not None and unit["born"] is not None and tree.born(unit["pid"]) == unit["born"]
    ]
