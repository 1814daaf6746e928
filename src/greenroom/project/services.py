"""How a server is run, as plain data and back: what the no-op road remembers of it.

Only what differs from the defaults is kept, so that a memory of hundreds of servers stays small.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from greenroom.components import LogOptions, Probe, Restart, Service

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["plain", "service"]

_DEFAULTS = {field.name: field.default for field in fields(Service)}
_NESTED = {"ready": Probe, "restart": Restart, "log": LogOptions}


def plain(found: Service) -> dict[str, Any]:
    """Return the fields that differ from the defaults, as data for JSON."""
    data: dict[str, Any] = {}
    for field in fields(found):
        value = getattr(found, field.name)
        if value == _DEFAULTS[field.name]:
            continue
        data[field.name] = asdict(value) if field.name in _NESTED else value
    return data


def service(data: Mapping[str, Any]) -> Service:
    """Return what :func:`plain` made plain."""
    found = {name: value for name, value in data.items() if name not in _NESTED}
    for name, kind in _NESTED.items():
        if data.get(name) is not None:
            values = {
                key: tuple(each) if isinstance(each, list) else each for key, each in data[name].items()
            }
            found[name] = kind(**values)
    for name in ("tags", "needs"):
        if name in found:
            found[name] = tuple(tuple(each) if isinstance(each, list) else each for each in found[name])
    return Service(**found)
