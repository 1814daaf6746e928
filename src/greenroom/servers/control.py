"""The supervisor's local control: lines of JSON over a socket that only its user can open.

One line asks, ``{"ask": …}``; one line answers. ``status`` tells all units; ``events`` tells them too and
then goes on: ``{"event": "state", "unit": …}`` for each change, ``{"event": "output", "units": […]}`` when
there is something new in logs (told once, however much it is, until it was taken). ``start``, ``stop``,
``restart`` and ``kill`` take ``names``, ``apply`` takes ``specs``, ``environ`` and ``prune``, ``down``
takes ``kill``. What goes wrong is answered with ``{"error": {kind, message, status}}``.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from greenroom.errors import GreenroomError, UnknownServer
from greenroom.servers.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.servers.loop import Loop
    from greenroom.servers.places import Places
    from greenroom.servers.supervisor import Supervisor

__all__ = ["Control"]

_BLOCK = 65_536
_MOST_BEHIND = 4_000_000
"""Bytes: a client that is further behind with taking what it is told is let go."""
_LONGEST = 64_000_000
"""Bytes of one request."""
_CREDENTIALS = struct.Struct("3i")


class Control:
    """Listens for the life of the supervisor."""

    def __init__(self, loop: Loop, supervisor: Supervisor, places: Places, declaration: str) -> None:
        self._loop, self._supervisor, self._places = loop, supervisor, places
        self.declaration = declaration
        self._clients: set[_Client] = set()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with places.address() as address:
            with suppress(FileNotFoundError):
                os.unlink(address)  # left from a crash: the lock is ours
            before = os.umask(0o177)
            try:
                self._socket.bind(address)
            finally:
                os.umask(before)
        self._socket.listen(64)
        self._socket.settimeout(0)
        loop.watch(self._socket.fileno(), reading=self._accept)
        supervisor.changed.append(self._changed)
        supervisor.heard.append(self._heard)

    def close(self) -> None:
        """Say goodbye to everybody and remove the socket."""
        self._loop.forget(self._socket.fileno())
        self._socket.close()
        with suppress(FileNotFoundError), self._places.address() as address:
            os.unlink(address)
        for client in list(self._clients):
            client.finish()

    def status(self) -> dict[str, Any]:
        """Return what is told of everything."""
        units = [self._supervisor.told(name) for name in self._supervisor.fleet.units]
        return {"declaration": self.declaration, "supervisor": os.getpid(), "units": units}

    def _accept(self) -> None:
        with suppress(BlockingIOError):
            link, _ = self._socket.accept()
            if _peer(link) not in {None, os.geteuid(), 0}:
                link.close()
                return
            self._clients.add(_Client(self._loop, link, self._answer, self._clients.discard))

    def _answer(self, client: _Client, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._do(client, request)
        except GreenroomError as error:
            kind = type(error).__name__
            return {"error": {"kind": kind, "message": str(error), "status": error.status}}
        except KeyError as error:
            known = self._supervisor.fleet.units
            unknown = UnknownServer(str(error.args[0]), known=known, declaration=self.declaration)
            kind = type(unknown).__name__
            return {"error": {"kind": kind, "message": str(unknown), "status": unknown.status}}

    def _do(self, client: _Client, request: dict[str, Any]) -> dict[str, Any]:
        match request.get("ask"):
            case "status":
                return self.status()
            case "events":
                client.told = True
                return self.status()
            case "start" | "stop" | "restart" | "kill" as what:
                return {"units": self._supervisor.ask(request["names"], what)}
            case "apply":
                specs = [Spec.of(data) for data in request["specs"]]
                return self._supervisor.apply(specs, request["environ"], prune=request["prune"])
            case "down":
                self._supervisor.close(kill=bool(request.get("kill")))
                return {"units": list(self._supervisor.fleet.units)}
        return {"error": {"kind": "UnknownRequest", "message": "nobody knows that request", "status": 2}}

    def _listening(self) -> list[_Client]:
        """Return who wants to be told, as a list: one that is found gone while it is told drops out."""
        return [client for client in self._clients if client.told]

    def _changed(self, name: str) -> None:
        told = self._listening()
        if told and name in self._supervisor.fleet.units:
            line = {"event": "state", "unit": self._supervisor.told(name)}
            for client in told:
                client.send(line)

    def _heard(self, name: str) -> None:
        for client in self._listening():
            client.output(name)


class _Client:
    """One connection."""

    def __init__(
        self,
        loop: Loop,
        link: socket.socket,
        answer: Callable[[_Client, dict[str, Any]], dict[str, Any]],
        gone: Callable[[_Client], object],
    ) -> None:
        self._loop, self._link, self._answer, self._gone = loop, link, answer, gone
        self.told = False
        """Whether it wants to be told what happens."""
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self._output: dict[str, None] = {}
        link.settimeout(0)
        self._watch()

    def send(self, message: dict[str, Any]) -> None:
        """Tell it something as soon as it takes it."""
        self._outgoing += json.dumps(message).encode() + b"\n"
        self._write()

    def output(self, name: str) -> None:
        """Tell it that there is output of a unit; again only after it took that."""
        self._output[name] = None
        self._write()

    def finish(self) -> None:
        """Write what can be written at once, and close."""
        self._link.settimeout(1)
        with suppress(OSError):
            self._link.sendall(self._outgoing)
        self._close()

    def _watch(self) -> None:
        waiting = bool(self._outgoing or self._output)
        self._loop.watch(self._link.fileno(), reading=self._read, writing=self._write if waiting else None)

    def _read(self) -> None:
        try:
            data = self._link.recv(_BLOCK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._incoming += data
        if not data or len(self._incoming) > _LONGEST:
            self._close()
            return
        while b"\n" in self._incoming and self._link.fileno() >= 0:
            line, _, rest = self._incoming.partition(b"\n")
            self._incoming = bytearray(rest)
            try:
                request = json.loads(line)
                answer = self._answer(self, request)
            except (ValueError, TypeError, AttributeError):
                answer = {"error": {"kind": "UnknownRequest", "message": "no line of JSON", "status": 2}}
            self.send(answer)

    def _write(self) -> None:
        if self._link.fileno() < 0:
            return
        if not self._outgoing and self._output:
            self._outgoing += json.dumps({"event": "output", "units": list(self._output)}).encode() + b"\n"
            self._output.clear()
        try:
            sent = self._link.send(self._outgoing) if self._outgoing else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close()
            return
        del self._outgoing[:sent]
        if len(self._outgoing) > _MOST_BEHIND:
            self._close()
            return
        self._watch()

    def _close(self) -> None:
        if self._link.fileno() >= 0:
            self._loop.forget(self._link.fileno())
            self._link.close()
        self._gone(self)


def _peer(link: socket.socket) -> int | None:
    """Return the user at the other end; None where the system does not say (the modes guard then)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    return int(_CREDENTIALS.unpack(link.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))[1])
