"""Ports that are a server's before it listens.

A bound socket that does not listen keeps a port from everybody who asks for any free one, and lets a
server that sets ``SO_REUSEADDR`` (as http.server, asyncio and uvicorn do) bind and listen over it; so
there is no moment between choosing and binding. A server that does not set it cannot: for those the
socket is let go before the next start (:meth:`Held.release`), or is handed over (``socket = "pass"``).
"""

from __future__ import annotations

import errno
import socket

from greenroom.components import Probe
from greenroom.errors import PortTaken

__all__ = ["Held", "probe", "url"]

_BACKLOG = 2048


class Held:
    """A port that is kept for one server.

    :param port: a fixed one; None: a free one.
    :param how: ``hold``, ``pass`` (it listens, for the server to inherit) or ``none`` (only chosen).
    :raises PortTaken: somebody else has it, or the address is not this machine's.
    """

    def __init__(self, name: str, host: str, port: int | None, how: str) -> None:
        self.host = host
        self.how = how
        self._socket: socket.socket | None = None
        self._name = name
        self.port = 0
        self._bind(port or 0)
        if how == "none":
            self.release()

    def _bind(self, port: int) -> None:
        try:
            family, kind, number, _, address = socket.getaddrinfo(
                self.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            made = socket.socket(family, kind, number)
        except OSError as error:
            raise PortTaken(self._name, self.host, port, error.strerror or str(error)) from error
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            if self.how == "pass":
                made.listen(_BACKLOG)
        except OSError as error:
            made.close()
            taken = error.errno == errno.EADDRINUSE
            reason = "is another program's" if taken else error.strerror or str(error)
            raise PortTaken(self._name, self.host, port, reason) from error
        self._socket = made
        self.port = made.getsockname()[1]

    @property
    def listening(self) -> int | None:
        """The descriptor of the listening socket, where one is passed."""
        return self._socket.fileno() if self.how == "pass" and self._socket is not None else None

    def release(self) -> bool:
        """Let the socket go: for a server that cannot bind over it.

        :returns: whether it was held.
        """
        if self._socket is None or self.how == "pass":
            return False
        self._socket.close()
        self._socket = None
        return True

    def close(self) -> None:
        """Give the port back."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def probe(host: str, port: int) -> Probe:
    """Return how it is told that a server which declares no probe listens on its port."""
    shown = _reached(host)
    return Probe(kind="tcp", target=f"[{shown}]:{port}" if ":" in shown else f"{shown}:{port}")


def url(host: str, port: int) -> str:
    """Return the URL of what listens there, as others on this machine reach it."""
    shown = _reached(host)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _reached(host: str) -> str:
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - read, not bound
    return everywhere.get(host, host)
