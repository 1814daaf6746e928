"""Start the supervisor: a process of its own, in a session of its own, that outlives this one or not."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from greenroom.errors import FailedError, SupervisorLost
from greenroom.servers import client

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.servers.client import Client
    from greenroom.servers.places import Places
    from greenroom.servers.spec import Spec

__all__ = ["Started", "start"]


class Started:
    """A supervisor that runs; ``mine`` tells whether this process started it."""

    def __init__(
        self, connection: Client, process: subprocess.Popen[bytes] | None, done: dict[str, Any], at: int
    ) -> None:
        self.client = connection
        self.mine = process is not None
        self.done = done
        """What :meth:`Supervisor.apply` did."""
        self.at = at
        """When it was asked, nanoseconds since the epoch: what is in the logs before is of before."""
        self._process = process

    @property
    def pid(self) -> int | None:
        """The supervisor's process, when this process started it."""
        return self._process.pid if self._process is not None else None

    def wait(self) -> int | None:
        """Wait for the end of a supervisor that this process started; None for another's."""
        return self._process.wait() if self._process is not None else None


def start(  # noqa: PLR0913 - what a start can be told, each by name
    places: Places,
    declaration: str,
    specs: Iterable[Spec],
    environ: Mapping[str, str],
    *,
    detach: bool,
    prune: bool = False,
    survive: bool = False,
) -> Started:
    """Run servers: by the supervisor that runs already, else by a new one.

    :param detach: whether a new supervisor outlives this process; else it ends its servers with it.
    :param prune: whether a running supervisor ends what is not among them.
    :param survive: whether servers outlive a new supervisor.
    :raises PortTaken: a fixed port is another program's.
    :raises SupervisorLost: it does not start.
    """
    places.make()
    at = time.time_ns()
    data = {"specs": [spec.plain() for spec in specs], "environ": dict(environ), "prune": prune}
    while True:
        connection = client.connect(places)
        if connection is not None:
            try:
                return Started(connection, None, connection.ask("apply", **data), at)
            except SupervisorLost:  # it was just ending
                connection.close()
                _await_end(places)
                continue
        more = {
            "declaration": declaration,
            "directory": places.directory,
            "linger": detach,
            "survive": survive,
        }
        process, answer = _spawn(places, {**data, **more}, detach=detach)
        if answer.get("busy"):  # another one was faster, or is just ending
            process.wait()
            if client.connect(places) is None:
                _await_end(places)
            continue
        if "error" in answer:
            process.wait()
            raise FailedError(answer["error"])
        connection = client.connect(places)
        if connection is None:
            process.wait()
            raise SupervisorLost("the supervisor ended at once", places.log)
        return Started(connection, process, answer["done"], at)


def _await_end(places: Places) -> None:
    """Wait until no supervisor holds the lock."""
    descriptor = os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _spawn(
    places: Places, data: Mapping[str, Any], *, detach: bool
) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    """Start the process and hear its first word.

    The pipe that it is told everything through stays open: its end tells a supervisor that is not
    detached that this process is gone.
    """
    log = os.open(places.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "greenroom.servers"],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    except OSError as error:
        raise SupervisorLost(f"cannot be started: {error.strerror}", places.log) from error
    finally:
        os.close(log)
    assert process.stdin is not None  # noqa: S101 - asked for above
    assert process.stdout is not None  # noqa: S101 - likewise
    try:
        process.stdin.write(json.dumps(data).encode() + b"\n")
        process.stdin.flush()
    except OSError:
        pass  # told by its silence
    line = process.stdout.readline()
    process.stdout.close()
    if not line:
        process.stdin.close()
        process.wait()
        raise SupervisorLost("the supervisor does not start", places.log)
    answer: dict[str, Any] = json.loads(line)
    if detach or "done" not in answer:
        process.stdin.close()
    return process, answer
