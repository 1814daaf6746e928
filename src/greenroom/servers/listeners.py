"""Whose socket listens on a port: a stranger's answer must not make a server ready (Linux).

The kernel is asked for its listening sockets by netlink (sock_diag(7)); reading ``/proc/net/tcp`` walks
all connections of the machine and takes a thousand times as long.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Listening", "listening", "owned"]

_FRESH = 0.01
"""Seconds for which a look-up holds."""
_SOCK_DIAG = 4
_BY_FAMILY = 20
_DUMP = 0x301
"""NLM_F_REQUEST with NLM_F_DUMP."""
_LISTEN = 1 << 10
_HEAD = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI48x")
_PORT = struct.Struct("!H")
_INODE = struct.Struct("=I")
_ERROR, _DONE = 2, 3


class Listening:
    """Which ports are listened on, looked up at most every hundredth of a second.

    Hundreds of servers that start at once are not asked each by a connection that is refused.
    """

    def __init__(self) -> None:
        self._ports: dict[int, set[int]] | None = None
        self._until = 0.0

    def silent(self, port: int, now: float) -> bool:
        """Tell whether certainly nobody listens on a port of this machine.

        :param now: monotonic seconds.
        """
        if now >= self._until:
            self._ports = listening()
            self._until = now + _FRESH
        return self._ports is not None and port not in self._ports


def listening() -> dict[int, set[int]] | None:
    """Return the ports that are listened on, with the inodes of the sockets; None: nobody can tell."""
    if sys.platform != "linux":
        return None
    found: dict[int, set[int]] = {}
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            for family in (socket.AF_INET, socket.AF_INET6):
                _ask(kernel, family, found)
    except (OSError, struct.error):
        return None
    return found


def _ask(kernel: socket.socket, family: int, found: dict[int, set[int]]) -> None:
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, _LISTEN)
    kernel.send(_HEAD.pack(_HEAD.size + len(request), _BY_FAMILY, _DUMP, 0, 0) + request)
    while True:
        data = kernel.recv(65_536)
        while data:
            size, kind, _, _, _ = _HEAD.unpack_from(data)
            if kind == _DONE:
                return
            if kind == _ERROR:
                raise OSError
            (port,) = _PORT.unpack_from(data, _HEAD.size + 4)
            (inode,) = _INODE.unpack_from(data, _HEAD.size + 68)
            found.setdefault(port, set()).add(inode)
            data = data[(size + 3) & ~3 :]


def owned(port: int, pids: Iterable[int]) -> bool | None:
    """Tell whether one of these processes listens on a port.

    :returns: None where it cannot be told: another system, or processes of another user.
    """
    ports = listening()
    if ports is None:
        return None
    names = {f"socket:[{inode}]" for inode in ports.get(port, ())}
    unseen = False
    for pid in pids:
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except PermissionError:
            unseen = True
            continue
        except OSError:
            continue
        for descriptor in descriptors:
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{descriptor}") in names:
                    return True
    return None if unseen else False
