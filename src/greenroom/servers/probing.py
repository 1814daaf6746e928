"""One attempt to reach a server over TCP or HTTP, without waiting: the loop says when it can go on."""

from __future__ import annotations

import errno
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.servers.loop import Loop

__all__ = ["Attempt", "target"]

_MOST = 4096
_BAD = 400


def target(kind: str, text: str) -> tuple[str, int, bytes]:
    """Return host, port and what is to be sent for a probe's target.

    :raises ValueError: it is no such target.
    """
    if kind == "tcp":
        host, _, port = text.rpartition(":")
        return host.strip("[]"), int(port), b""
    parts = urlsplit(text)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    return parts.hostname or "127.0.0.1", parts.port or 80, request.encode()


class Attempt:
    """Connect, send, read the status line; ``done`` is called once, with None or why it failed."""

    def __init__(
        self,
        loop: Loop,
        host: str,
        port: int,
        request: bytes,
        timeout: float,
        done: Callable[[str | None], object],
    ) -> None:
        self._loop, self._request, self._done = loop, request, done
        self._answer = b""
        self._timer = loop.after(timeout, lambda: self._end(f"no answer within {timeout:g} s"))
        self._socket: socket.socket | None = None
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._socket = socket.socket(family, socket.SOCK_STREAM)
            self._socket.settimeout(0)
            code = self._socket.connect_ex((host, port))
        except OSError as error:
            code = error.errno or errno.EINVAL
        if self._socket is not None and code in {0, errno.EINPROGRESS}:
            loop.watch(self._socket.fileno(), writing=self._connected)
        else:
            self._timer.cancel()
            self._timer = loop.after(0, lambda: self._end(os.strerror(code)))

    def cancel(self) -> None:
        """Give it up; ``done`` is not called."""
        self._timer.cancel()
        if self._socket is not None:
            self._loop.forget(self._socket.fileno())
            self._socket.close()
            self._socket = None

    def _connected(self) -> None:
        assert self._socket is not None  # noqa: S101 - watched only while it is open
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._end(os.strerror(code))
        elif not self._request:
            self._end(None)
        else:
            try:
                self._socket.send(self._request)
            except OSError as error:
                self._end(error.strerror or str(error))
                return
            self._loop.watch(self._socket.fileno(), reading=self._readable)

    def _readable(self) -> None:
        assert self._socket is not None  # noqa: S101 - watched only while it is open
        try:
            data = self._socket.recv(_MOST)
        except OSError as error:
            self._end(error.strerror or str(error))
            return
        self._answer += data
        line, whole, _ = self._answer.partition(b"\r\n")
        if whole or not data or len(self._answer) > _MOST:
            self._end(_verdict(line))

    def _end(self, problem: str | None) -> None:
        self.cancel()
        self._done(problem)


def _verdict(line: bytes) -> str | None:
    words = line.split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/"):
        return "the answer is no HTTP"
    status = 0
    with suppress(ValueError):
        status = int(words[1])
    return None if 0 < status < _BAD else f"HTTP status {words[1].decode(errors='replace')}"
