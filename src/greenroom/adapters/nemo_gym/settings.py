"""What a NeMo Gym configuration says: read from any mapping, so that omegaconf need not be there."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["current", "flag", "host_root", "lines", "text"]


def text(config: Mapping[str, Any], key: str) -> str | None:
    """Return a value as text; None where it is absent or None."""
    value = config.get(key)
    return None if value is None else str(value)


def flag(config: Mapping[str, Any], key: str) -> bool:
    """Return whether a switch is on; an absent one is off."""
    return bool(config.get(key))


def lines(config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a list of texts; an absent one is empty."""
    return tuple(str(item) for item in config.get(key) or ())


def current() -> Mapping[str, Any]:
    """Return the configuration of NeMo Gym in this process; an empty one where it is not installed."""
    if find_spec("nemo_gym") is None:
        return {}
    found: Mapping[str, Any] = import_module("nemo_gym.global_config").get_global_config_dict()
    return found


def host_root() -> str | None:
    """Return the directory that holds the package ``nemo_gym``; None where it is not installed."""
    spec = find_spec("nemo_gym")
    if spec is None or not spec.submodule_search_locations:
        return None
    return os.path.dirname(os.path.realpath(next(iter(spec.submodule_search_locations))))
