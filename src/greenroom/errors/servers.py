"""Errors of servers: what keeps one from starting, running or being found."""

from __future__ import annotations

from greenroom.errors.root import FailedError, NotReadyError, UseError, use_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CommandUnknown",
    "NeedsCircle",
    "NotRunning",
    "OutsideRoots",
    "PortTaken",
    "ServersFailed",
    "SupervisorLost",
    "UnknownServer",
]


class CommandUnknown(UseError):
    """A server is to be started, and nothing says by which command."""

    def __init__(self, server: str, where: str) -> None:
        self.server = server
        todo = 'give its command = ["python", "main.py"], or an app.py or main.py in its directory'
        super().__init__(f"server {server!r} has no command", where=where, todo=todo)


class NeedsCircle(UseError):
    """Servers wait for one another in a circle."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        super().__init__(f"servers need each other: {' → '.join(self.names)}", todo="take one `needs` out")


class NotRunning(NotReadyError):
    """No supervisor runs this declaration's servers, or it runs none of that name."""

    def __init__(self, where: str, server: str | None = None) -> None:
        self.server = server
        what = "no servers are running" if server is None else f"server {server!r} is not running"
        super().__init__(what, where=where, todo="greenroom up" + (f" {server}" if server else ""))


class OutsideRoots(UseError):
    """A server's real directory is in none of the allowed roots."""

    def __init__(self, server: str, directory: str, roots: Iterable[str]) -> None:
        self.server, self.directory, self.roots = server, directory, tuple(roots)
        what = f"{directory} lies outside the allowed roots {', '.join(self.roots)}"
        super().__init__(what, where=server, todo="move it, or change GREENROOM_ALLOWED_ROOTS")


class PortTaken(FailedError):
    """A server's port cannot be had."""

    def __init__(self, server: str, host: str, port: int, reason: str) -> None:
        self.server, self.host, self.port, self.reason = server, host, port, reason
        super().__init__(
            f"port {port} of {host} {reason}" if port else f"no port of {host}: {reason}",
            where=server,
            todo="end that program, or leave out `port` to get a free one",
        )


class ServersFailed(FailedError):
    """Servers that were to run do not."""

    def __init__(self, what: str, server: str) -> None:
        self.server = server
        super().__init__(what, where=server, todo=f"greenroom logs {server}")


class SupervisorLost(FailedError):
    """The supervisor of the servers could not start, or ended without a word; its guardian ended them."""

    def __init__(self, what: str, log: str) -> None:
        self.log = log
        super().__init__(what, where="supervisor", todo=f"see {log}")


class UnknownServer(UseError):
    """No server of the declaration has this name or tag."""

    def __init__(self, name: str, *, known: Iterable[str], declaration: str) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"no server is named {name!r}", where=declaration, todo=use_one_of(name, self.known))
