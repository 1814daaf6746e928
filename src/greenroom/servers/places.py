"""Where a supervisor keeps its socket, its state and the logs: in its user's own directory."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from greenroom.errors import SupervisorLost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Places", "places"]

_LONGEST = 100
"""Bytes: addresses of sockets have 108 on Linux, 104 on macOS."""


class Places:
    """The files of one supervisor."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.lock = os.path.join(directory, "lock")
        """Held by the supervisor as long as it lives; never removed."""
        self.socket = os.path.join(directory, "control")
        self.state = os.path.join(directory, "state.json")
        self.log = os.path.join(directory, "supervisor.log")
        """What the supervisor itself complained about."""
        self.logs = os.path.join(directory, "logs")

    def make(self) -> None:
        """Make the directory, for its user only.

        :raises SupervisorLost: it cannot be made.
        """
        try:
            os.makedirs(self.logs, mode=0o700, exist_ok=True)
            os.chmod(self.directory, 0o700)
        except OSError as error:
            raise SupervisorLost(f"{self.directory}: {error.strerror}", self.log) from error

    @contextmanager
    def address(self) -> Iterator[str]:
        """Return the socket's address, also where its path is longer than addresses may be."""
        if len(os.fsencode(self.socket)) <= _LONGEST:
            yield self.socket
            return
        descriptor = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}/{os.path.basename(self.socket)}"
        finally:
            os.close(descriptor)


def places(declaration: str, environ: Mapping[str, str]) -> Places:
    """Return the places of a declaration: below ``XDG_STATE_HOME``, else ``~/.local/state``."""
    from hashlib import sha256  # noqa: PLC0415 - needed for this only

    base = environ.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local", "state")
    name = sha256(os.path.realpath(declaration).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Places(os.path.join(base, "greenroom", "servers", name))
