"""One process of a server: what it is started with, its port and its output."""

from __future__ import annotations

import fcntl
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import GreenroomError, OutsideRoots, ServersFailed
from greenroom.project import launching
from greenroom.servers import logfiles, placeholders, ports
from greenroom.servers.guarding import Order
from greenroom.servers.model import Rules
from greenroom.servers.tree import MARK
from greenroom.store import leasing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from greenroom.components import Service
    from greenroom.servers.loop import Loop
    from greenroom.servers.readiness import Readiness
    from greenroom.servers.spec import Spec

__all__ = ["Member", "rules"]

_BLOCK = 262_144
_F_SETPIPE_SZ = 1031
_TAIL = 8192
RECORD = "greenroom.json"
"""As in :mod:`greenroom.store.model`, which is too heavy for a launch."""


@dataclass(slots=True)
class _Opened:
    """Descriptors of one launch, closed when the guardian has its own."""

    descriptors: list[int]

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


def rules(service: Service, *, probed: bool) -> Rules:
    """Return how the machine supervises a server."""
    ready = service.ready
    return Rules(
        needs=service.needs,
        probed=probed,
        start_period=ready.start_period if ready is not None else 60,
        policy=service.restart.policy,
        limit=service.restart.limit,
        backoff=service.restart.backoff,
        stop_signal=int(signal.Signals[service.stop_signal]),
        grace=service.grace,
    )


class Member:
    """What belongs to a unit beside its state.

    :param heard: called with each block of output.
    """

    def __init__(
        self, spec: Spec, name: str, replica: int, *, loop: Loop, logs: str, heard: Callable[[bytes], object]
    ) -> None:
        self.spec, self.name, self.replica = spec, name, replica
        self.service = spec.service
        self._loop, self._heard = loop, heard
        self.number = 0
        """The guardian's number of the current launch."""
        self.readiness: Readiness | None = None
        self.held: ports.Held | None = None
        self.shared = False
        """Whether the port's socket is also another replica's."""
        options = self.service.log
        path = os.path.join(options.directory or logs, logfiles.file_name(name))
        self.log = logfiles.LogFile(path, rotate=options.rotate_size, keep=options.keep)
        self._pipe = -1

    @property
    def port(self) -> int | None:
        """The port that it is to listen on."""
        return self.held.port if self.held is not None else None

    @property
    def url(self) -> str | None:
        """Where others reach it."""
        return ports.url(self.service.host, self.held.port) if self.held is not None else None

    def values(self, others: Mapping[str, str]) -> dict[str, str]:
        """Return what stands for the placeholders."""
        own = {
            "name": self.spec.name,
            "host": self.service.host,
            "python": self.spec.interpreter,
            "replica": str(self.replica),
            "fd": "3",
        }
        if self.held is not None:
            own |= {"port": str(self.held.port), "url": self.url or ""}
        return {**others, **own}

    def launch(
        self, number: int, environ: Mapping[str, str], values: Mapping[str, str], *, direct: bool = False
    ) -> tuple[Order, _Opened]:
        """Return the order for a new process; its output is read from now on.

        :param direct: whether it writes to the log's file itself, past this process.
        :raises GreenroomError: it cannot be started, and why.
        """
        self.number = number
        opened = _Opened([])
        try:
            directory, real = self._directory(opened)
            if self.spec.environment is not None:
                opened.descriptors.append(leasing.lease(os.path.join(self.spec.environment, RECORD)))
            lease = opened.descriptors[-1] if self.spec.environment is not None else None
            block = self.block(environ, values) | {"PWD": real, MARK: f"{self.name}#{number}"}
            listening = self.held.listening if self.held is not None else None
            if listening is not None:
                block["LISTEN_FDS"] = "1"
            command = [placeholders.fill(word, values) for word in self.spec.command]
            program = launching.program(command, self.spec.interpreter, block)
            output = self.log.descriptor() if direct else self._open_pipe()
            opened.descriptors.append(output)
        except OSError as error:
            opened.close()
            raise ServersFailed(f"cannot be started: {error.strerror or error}", self.name) from error
        except BaseException:
            opened.close()
            raise
        order = Order(
            program=program,
            name=program if program == self.spec.interpreter else command[0],
            arguments=command[1:],
            env=block,
            directory=directory,
            output=output,
            lease=lease,
            listening=listening,
        )
        return order, opened

    def block(self, environ: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
        """Return the environment block of its processes."""
        filled = [[name, placeholders.fill(value, values)] for name, value in self.spec.launch["variables"]]
        return launching.block(
            environ,
            environment=self.spec.environment,
            interpreter=self.spec.interpreter,
            launch={**self.spec.launch, "variables": filled},
        )

    def program(self, name: str, block: Mapping[str, str]) -> str:
        """Return the path of a program as the server would find it; as it is, when it would not."""
        try:
            return launching.program([name], self.spec.interpreter, block)
        except GreenroomError:
            return name

    def drain(self) -> None:
        """Take what is still in the pipe."""
        while self._pipe >= 0 and self._read():
            pass

    def tail(self, lines: int = 5) -> tuple[str, ...]:
        """Return the last lines of its log, as they are."""
        with suppress(OSError), open(self.log.path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL))
            return tuple(line.decode(errors="replace")[:500] for line in stream.read().splitlines()[-lines:])
        return ()

    def close(self) -> None:
        """Give back its port, its log and its pipe."""
        if self.readiness is not None:
            self.readiness.end()
        self._close_pipe()
        self.log.close()
        if self.held is not None and not self.shared:
            self.held.close()

    def _directory(self, opened: _Opened) -> tuple[int, str]:
        """Open the working directory: what is checked here is what the process is started in."""
        descriptor = os.open(self.spec.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.descriptors.append(descriptor)
        linux = os.path.isdir(f"/proc/self/fd/{descriptor}")
        real = os.readlink(f"/proc/self/fd/{descriptor}") if linux else os.path.realpath(self.spec.directory)
        roots = self.spec.roots
        if roots and not any(os.path.commonpath((real, root)) == root for root in roots):
            raise OutsideRoots(self.name, real, roots)
        return descriptor, real

    def _open_pipe(self) -> int:
        self._close_pipe()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        with suppress(OSError):  # a server that writes much waits less often
            fcntl.fcntl(reading, _F_SETPIPE_SZ, _BLOCK)
        self._pipe = reading
        self._loop.watch(reading, reading=self._read)
        return writing

    def _read(self) -> bool:
        try:
            data = os.read(self._pipe, _BLOCK)
        except BlockingIOError:
            return False
        if not data:
            self._close_pipe()
            return False
        self.log.write(data)
        if self.readiness is not None:
            self.readiness.feed(data)
        self._heard(data)
        return True

    def _close_pipe(self) -> None:
        if self._pipe >= 0:
            self._loop.forget(self._pipe)
            os.close(self._pipe)
            self._pipe = -1
