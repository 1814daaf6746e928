"""The cluster that this process is connected to: its nodes, and what the job's runtime environment is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from greenroom.errors import RayNotInstalled, RayNotRunning, UnknownNode
from greenroom.ray.merging import REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["address", "connect", "module", "needs_own_driver", "nodes"]

_AUTO = "auto"
_PATIENCE = 5.0
"""Seconds in which a cluster's head takes a connection."""


def module() -> Any:
    """Import Ray.

    :raises RayNotInstalled: it is not there.
    """
    try:
        import ray  # noqa: PLC0415 - only where it is used
    except ImportError as error:
        raise RayNotInstalled from error
    return ray


def connect(named: str | None, environ: Mapping[str, str]) -> None:
    """Connect this process to a cluster that runs, as a driver of its own.

    :param named: its address; None: ``RAY_ADDRESS``, else the one that runs on this machine.
    :raises RayNotInstalled: there is no Ray here.
    :raises RayNotRunning: no cluster answers, or it refuses this driver's versions.
    """
    # Before ray is imported: a hook of ``uv run`` would give the job an environment of its own.
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    ray = module()
    import logging  # noqa: PLC0415 - Ray has it loaded

    address = named or environ.get("RAY_ADDRESS") or _AUTO
    _answers(address)
    try:
        ray.init(address, logging_level=logging.ERROR, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, AssertionError) as error:
        raise RayNotRunning(address, str(error).strip().splitlines()[0] if str(error) else "") from error


def _answers(address: str) -> None:
    """Refuse an address at which nobody listens: Ray would try for minutes.

    :raises RayNotRunning: nobody does.
    """
    import socket  # noqa: PLC0415 - not for the command's start

    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except OSError as error:
        raise RayNotRunning(address, error.strerror or str(error)) from error


def address() -> str:
    """Return the address by which another driver on this machine finds the cluster.

    :raises RayNotRunning: this process is not connected.
    """
    return str(_context().gcs_address)


def nodes(named: Iterable[str] | None = None) -> dict[str, str]:
    """Return id -> address of the nodes that are alive, those without CPUs included.

    :param named: only these, by id or address.
    :raises RayNotRunning: this process is not connected.
    :raises UnknownNode: one of the named is not alive.
    """
    _context()
    alive = {
        str(node["NodeID"]): str(node["NodeManagerAddress"]) for node in module().nodes() if node["Alive"]
    }
    if named is None:
        return alive
    wanted = list(named)
    for name in wanted:
        if name not in alive and name not in alive.values():
            raise UnknownNode(name, known=alive.values())
    return {node: place for node, place in alive.items() if node in wanted or place in wanted}


def needs_own_driver() -> bool:
    """Tell whether the job's runtime environment would reach the nodes' own interpreter, too.

    A task can take the node's own interpreter back from ``py_executable``, and from nothing else.
    """
    inherited = _context().runtime_env
    return any(inherited.get(field) for field in REFUSED)


def _context() -> Any:
    ray = module()
    if not ray.is_initialized():
        raise RayNotRunning("this process", "it is not connected, call ray.init() first")
    return ray.get_runtime_context()
