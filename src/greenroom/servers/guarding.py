"""The supervisor's side of the guardian: start it, ask it, hear from it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.errors import ProgramNotStarted
from greenroom.servers import frames, tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Guarding", "Order"]

_BLOCK = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One process to start; the descriptors are open here and stay the caller's."""

    program: str
    """The path of what is executed."""
    name: str
    """What it finds as its own name."""
    arguments: Sequence[str]
    env: Mapping[str, str]
    directory: int
    """A descriptor of the working directory: what was checked is what is entered."""
    output: int
    """Where its stdout and stderr go."""
    lease: int | None = None
    """What keeps its environment from being collected; it holds while any process of it lives."""
    listening: int | None = None
    """A listening socket that it finds as descriptor 3."""


class Guarding:
    """The guardian of this supervisor."""

    def __init__(self, *, survive: bool = False) -> None:
        tree.adopt()  # should the guardian be killed, its servers come to us
        self._link, other = socket.socketpair()
        flags = ["--survive"] if survive else []
        words = [sys.executable, "-P", "-m", "greenroom.servers.guardian", str(other.fileno()), *flags]
        try:
            self._process = subprocess.Popen(
                words,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(other.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self._link.close()
            raise ProgramNotStarted(sys.executable, error.strerror or str(error)) from error
        finally:
            other.close()
        self._incoming = frames.Incoming()

    @property
    def pid(self) -> int:
        """The guardian's process."""
        return self._process.pid

    def fileno(self) -> int:
        """Return what becomes readable when the guardian has something to say."""
        return self._link.fileno()

    def spawn(self, number: int, order: Order) -> None:
        """Ask for a process; the answer is ``spawned`` or ``refused``.

        :raises OSError: the guardian is gone.
        """
        descriptors = [order.directory, order.output]
        descriptors += [each for each in (order.lease, order.listening) if each is not None]
        message = {
            "ask": "spawn",
            "id": number,
            "program": order.program,
            "name": order.name,
            "arguments": list(order.arguments),
            "env": dict(order.env),
            "lease": order.lease is not None,
            "listening": order.listening is not None,
        }
        frames.send(self._link, message, descriptors)

    def signal(self, number: int, what: int) -> None:
        """Send a signal to every process of a launch."""
        with suppress(OSError):  # told by hear()
            frames.send(self._link, {"ask": "signal", "id": number, "number": what})

    def kill(self, number: int) -> None:
        """Kill every process of a launch until there is none."""
        with suppress(OSError):
            frames.send(self._link, {"ask": "kill", "id": number})

    def hear(self) -> list[dict[str, Any]] | None:
        """Return what the guardian said; None when it is gone."""
        try:
            data = self._link.recv(_BLOCK)
        except OSError:
            data = b""
        return self._incoming.feed(data) if data else None

    def close(self) -> None:
        """Let the guardian end what is left, and wait for its end."""
        self._link.close()
        self._process.wait()

    def replace_dead(self) -> None:
        """Kill every process that a guardian which was killed itself left to this one."""
        self._process.wait()
        while True:
            for pid in tree.descendants(os.getpid()):
                tree.end(pid)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return
