"""Messages between supervisor and guardian: JSON behind its length, with file descriptors beside it."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Incoming", "receive", "send"]

_LENGTH = struct.Struct("!I")
_MOST_FDS = 8


def send(link: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message; waits while the other side is behind.

    :raises OSError: the other side is gone.
    """
    payload = json.dumps(message).encode()
    data = _LENGTH.pack(len(payload)) + payload
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    sent = link.sendmsg([data], ancillary)
    link.sendall(data[sent:])


def receive(link: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Wait for one message, with the descriptors that came with it (close-on-exec); None: the end."""
    room = socket.CMSG_SPACE(_MOST_FDS * array.array("i").itemsize)
    head, ancillary, _, _ = link.recvmsg(_LENGTH.size, room, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library's signature
    head = _exactly(link, head, _LENGTH.size)
    body = _exactly(link, b"", _LENGTH.unpack(head)[0]) if head else b""
    return (json.loads(body), list(descriptors)) if body else None


def _exactly(link: socket.socket, data: bytes, size: int) -> bytes:
    while len(data) < size:
        more = link.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data


class Incoming:
    """Messages without descriptors, taken from a stream as they come in."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take what came in and return the messages that are whole."""
        self._data += data
        found = []
        while len(self._data) >= _LENGTH.size:
            size = _LENGTH.unpack_from(self._data)[0] + _LENGTH.size
            if len(self._data) < size:
                break
            found.append(json.loads(self._data[_LENGTH.size : size]))
            self._data = self._data[size:]
        return found
