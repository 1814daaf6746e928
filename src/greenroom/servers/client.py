"""Speak with a declaration's supervisor from another process."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from greenroom.errors import FailedError, NotRunning, SupervisorLost, UseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from greenroom.servers.places import Places

__all__ = ["Client", "connect", "status"]


class Client:
    """A connection; requests and answers in turns, or the stream of events."""

    def __init__(self, link: socket.socket, places: Places) -> None:
        self._link, self._places = link, places
        self._stream = link.makefile("rb")

    def __enter__(self) -> Self:
        """Use it as a context: it is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def fileno(self) -> int:
        """Return what becomes readable when there is something to take."""
        return self._link.fileno()

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._stream.close()
        self._link.close()

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        """Ask for something and return the answer.

        :raises UseError: the supervisor refuses it.
        :raises FailedError: it went wrong.
        :raises SupervisorLost: there is nobody at the other end any more.
        """
        self.send(what, **more)
        answer = self.take()
        if answer is None:
            raise SupervisorLost("the supervisor ended", self._places.log)
        error = answer.get("error")
        if error is not None:
            raise (UseError if error["status"] == UseError.status else FailedError)(error["message"])
        return answer

    def send(self, what: str, **more: Any) -> None:
        """Ask for something without waiting for the answer.

        :raises SupervisorLost: there is nobody at the other end any more.
        """
        try:
            self._link.sendall(json.dumps({"ask": what, **more}).encode() + b"\n")
        except OSError as error:
            raise SupervisorLost("the supervisor ended", self._places.log) from error

    def take(self) -> dict[str, Any] | None:
        """Wait for one line; None: the other end is closed."""
        try:
            line = self._stream.readline()
        except TimeoutError:
            raise
        except OSError:
            line = b""
        found: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return found

    def settle(
        self,
        names: Iterable[str] | None,
        done: Callable[[dict[str, Any]], bool],
        timeout: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield each new state of some units until all of them are as wanted, or the supervisor ends.

        :param names: of units; None: all.
        :param done: whether a unit is as wanted.
        :raises TimeoutError: they are not so after this many seconds.
        :raises SupervisorLost: the supervisor ended before.
        """
        end = None if timeout is None else time.monotonic() + timeout
        left: set[str] = set()
        wanted = None if names is None else set(names)
        for line in self.events(end):
            for unit in [line["unit"]] if "unit" in line else line.get("units", []):
                if not isinstance(unit, str) and (wanted is None or unit["name"] in wanted):
                    yield unit
                    left.discard(unit["name"])
                    if not done(unit):
                        left.add(unit["name"])
            if not left:
                return
        if left or wanted is None:
            raise SupervisorLost("the supervisor ended", self._places.log)

    def events(self, end: float | None = None) -> Iterator[dict[str, Any]]:
        """Ask for events and yield them, the status of all first, until the supervisor ends.

        :param end: when to give up, by the monotonic clock.
        :raises TimeoutError: it is over.
        """
        self.send("events")
        while True:
            self._link.settimeout(None if end is None else max(end - time.monotonic(), 0.001))
            line = self.take()
            if line is None:
                return
            yield line


def connect(places: Places) -> Client | None:
    """Return a connection to the supervisor; None when none runs."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with places.address() as address:
            link.connect(address)
    except OSError:
        link.close()
        return None
    return Client(link, places)


def status(places: Places, declaration: str) -> dict[str, Any]:
    """Return the state of all units.

    :raises NotRunning: no supervisor runs.
    """
    client = connect(places)
    if client is None:
        raise NotRunning(declaration)
    with client:
        return client.ask("status")
