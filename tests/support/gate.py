"""Hold a build or a download at a known point until the test lets it on: events, not sleeps."""

from __future__ import annotations

import queue
import socket
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Gate"]


class Gate:
    """A place where other processes stand; they tell their process id on arrival.

    A build backend connects to ``port`` and stays until :meth:`open`, or until the gate is closed.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._arrivals: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._waiting: list[socket.socket] = []
        self._opened = False
        self._closed = False
        self._lock = threading.Lock()
        self._count = 0
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    @property
    def arrived(self) -> int:
        """How many have come so far."""
        return self._count

    def wait(self, timeout: float = 60) -> int:
        """Wait for the next arrival.

        :param timeout: seconds after which the test fails.
        :returns: the process id of the one that came.
        :raises queue.Empty: nobody came in time.
        """
        return self._arrivals.get(timeout=timeout)

    def open(self) -> None:
        """Let everybody on, also those who come later."""
        with self._lock:
            self._opened = True
            waiting, self._waiting = self._waiting, []
        for connection in waiting:
            connection.close()

    def close(self) -> None:
        """Open, and stop listening."""
        self.open()
        self._closed = True
        # Closing a listener does not wake a thread in accept() everywhere: come once ourselves.
        with socket.create_connection(("127.0.0.1", self.port)):
            self._thread.join()
        self._listener.close()

    def _receive(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._closed:
                connection.close()
                return
            with connection.makefile("rb") as stream:
                pid = stream.readline()
            with self._lock:
                self._count += 1
                opened = self._opened
                if not opened:
                    self._waiting.append(connection)
            if opened:
                connection.close()
            self._arrivals.put(int(pid or 0))

    def __enter__(self) -> Self:
        """Return the gate itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()
