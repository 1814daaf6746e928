"""What a running server's processes see, for a command beside it from another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.project import launching
from greenroom.servers import placeholders

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.servers.spec import Spec

__all__ = ["block"]


def block(spec: Spec, units: Iterable[Mapping[str, Any]], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment block of a server.

    :param units: what the supervisor tells of all; none when none runs: ports are unknown then.
    """
    values = {
        "name": spec.name,
        "host": spec.service.host,
        "python": spec.interpreter,
        "fd": "3",
        "replica": "1",
    }
    for unit in units:
        if unit["port"] is not None:
            found = {"port": str(unit["port"]), "url": unit["url"]}
            names = {unit["name"], unit["server"]}
            values |= {f"servers.{name}.{key}": value for name in names for key, value in found.items()}
            if unit["server"] == spec.name:
                values |= found
    variables = [[name, placeholders.fill(value, values)] for name, value in spec.launch["variables"]]
    return launching.block(
        environ,
        environment=spec.environment,
        interpreter=spec.interpreter,
        launch={**spec.launch, "variables": variables},
    )
