"""Resolve once in a run what several components ask for in the same words.

Directories of servers often hold the same requirements; each has a lock of its own, and one
resolution can serve all of them.
"""

from __future__ import annotations

import threading
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING

from greenroom.locks import generated, origins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter

__all__ = ["Resolutions", "meaning"]


class Resolutions:
    """The resolutions of one run, by what was asked for; threads share it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._texts: dict[str, str] = {}

    @property
    def made(self) -> int:
        """Return how many there are."""
        return len(self._texts)

    def once(self, asked: str, resolve: Callable[[], str]) -> str:
        """Return the resolution of ``asked``, made by the first who wants it; others wait.

        One that fails is not remembered: each source's own error names it.
        """
        with self._guard:
            lock = self._locks.setdefault(asked, threading.Lock())
        with lock:
            if asked not in self._texts:
                self._texts[asked] = resolve()
            return self._texts[asked]


def meaning(
    spec: EnvironmentSpec, root: str, interpreter: Interpreter, environ: Mapping[str, str], pins: str | None
) -> str:
    """Return a digest of everything that decides a resolution; names of components and files do not.

    :param pins: the text of the lock that is there; None: nothing is to be kept of one.
    :raises RequirementsUnreadable, SecretInSource, LockUnreadable: an input is at fault.
    """
    kept = None if pins is None else [pins.partition("\n[tool.greenroom]\n")[0]]
    anew = () if pins is None else generated.asked_anew(spec, root, environ)
    build = [[name, environ.get(name) if value is None else value] for name, value in spec.options.build_env]
    asked = origins.of(spec, root, environ).meaning
    return sha256(dumps([asked, interpreter.path, build, kept, anew]).encode()).hexdigest()
