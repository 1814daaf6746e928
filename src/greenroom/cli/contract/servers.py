"""The JSON data of ``up``, ``ps``, ``stop``, ``restart``, ``down``, ``wait``, ``url`` and ``config``.

Those that ask servers for something tell what became of them.
"""

from __future__ import annotations

from typing import TypedDict

__all__ = ["Config", "Declared", "Servers", "Unit", "Url"]


class Unit(TypedDict):
    """One process of a server."""

    name: str
    """The server's name; with several replicas ``NAME.1``, ``NAME.2``…"""
    server: str
    state: str
    """``waiting``, ``starting``, ``ready``, ``stopping``, ``ending``, ``backoff``, ``stopped``,
    ``completed``, ``failed``; ``lost`` when its supervisor was killed."""
    pid: int | None
    port: int | None
    url: str | None
    since: float | None
    """When it was started, seconds since the epoch."""
    ready_after: float | None
    """Seconds from its start until it was ready; null while it is not."""
    restarts: int
    status: int | None
    """How its last process ended: the exit status, or minus the signal's number."""
    ended: str | None
    """The same in words."""
    forced: bool
    """Whether SIGKILL was needed."""
    reason: str | None
    key: str | None
    """The environment."""
    log: str
    tail: list[str]
    """The last lines of its log, when it failed."""


class Servers(TypedDict):
    """The state of servers."""

    declaration: str
    supervisor: int | None
    """The supervisor's process; null when none runs."""
    units: list[Unit]


class Url(TypedDict):
    """``url NAME``: where a server is reached."""

    name: str
    url: str
    host: str
    port: int


class Declared(TypedDict):
    """One server of ``config``."""

    name: str
    directory: str
    command: list[str]
    variables: list[str]
    """The names; values may be secret."""
    host: str
    port: int | None
    socket: str
    ready: str
    needs: dict[str, str]
    restart: str
    replicas: int
    tags: list[str]
    key: str | None
    interpreter: str | None


class Config(TypedDict):
    """``config``: the servers as they would be run."""

    declaration: str
    servers: list[Declared]
