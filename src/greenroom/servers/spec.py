"""What the supervisor is told of each server: everything that decides how it runs, as plain data."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from greenroom.project import services
from greenroom.servers import placeholders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import Service

__all__ = ["Spec", "digest", "needed_ports", "unit_names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One server, ready to be launched."""

    name: str
    interpreter: str
    environment: str | None
    """The environment's directory; None on the driver's interpreter."""
    key: str | None
    directory: str
    command: tuple[str, ...]
    """With its placeholders."""
    launch: Mapping[str, Any]
    """Variables, env-file and service, as in a snapshot."""
    uses_port: bool
    roots: tuple[str, ...] = ()
    """The allowed roots, real paths; none: every directory may be used."""
    digest: str = ""
    """Of all that was declared: another one means another server."""

    @property
    def service(self) -> Service:
        """How it is run."""
        return services.service(self.launch["service"])

    def texts(self) -> tuple[str, ...]:
        """Return everything in which placeholders count."""
        service = self.service
        probe = (service.ready.target, *service.ready.command) if service.ready else ()
        return (*self.command, *(value for _, value in self.launch["variables"]), *probe)

    def plain(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Spec:
        """Return what :meth:`plain` made plain."""
        return cls(**{**data, "command": tuple(data["command"]), "roots": tuple(data["roots"])})


def digest(spec: Spec) -> str:
    """Return a digest of what decides a server's process; an env-file counts by its content."""
    from hashlib import sha256  # noqa: PLC0415 - needed for this only

    data = spec.plain()
    del data["digest"]
    file = spec.launch["env_file"]
    if file is not None and os.path.exists(file):
        with open(file, "rb") as stream:
            data["content"] = sha256(stream.read()).hexdigest()
    return sha256(json.dumps(data, sort_keys=True).encode("utf-8", "surrogateescape")).hexdigest()


def unit_names(name: str, replicas: int) -> tuple[str, ...]:
    """Return the names of a server's processes: its own, or numbered ones."""
    return (name,) if replicas == 1 else tuple(f"{name}.{number}" for number in range(1, replicas + 1))


def needed_ports(specs: list[Spec]) -> set[str]:
    """Return the servers that others name by their port or URL."""
    return {name for spec in specs for name in placeholders.references(spec.texts())}
