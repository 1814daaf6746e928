"""The JSON data of ``greenroom image``: every action's has the same keys."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.cli.contract.images import Image, ImageEnvironment
    from greenroom.images.frozen import FrozenEnvironment
    from greenroom.images.model import Done
    from greenroom.images.overview import Row

__all__ = ["done", "empty", "environment", "frozen", "row"]


def empty(action: str) -> Image:
    """Return an answer of an action in which nothing is said yet."""
    return {
        "action": action,
        "stage": None,
        "stages": [],
        "cache_keys": {},
        "environments": [],
        "drivers": [],
        "skipped": {},
        "files": {},
        "fingerprint": None,
        "policy": None,
        "drift": [],
        "rebuilt": [],
        "linked": 0,
        "removed": 0,
        "freed": 0,
        "notes": [],
        "problems": [],
    }


def environment(key: str, components: Iterable[str], state: str) -> ImageEnvironment:
    """Return an environment of which nothing more is said yet."""
    return {
        "key": key,
        "components": list(components),
        "state": state,
        "action": "",
        "stages": {},
        "brought": [],
        "pending": [],
        "waits_for": [],
        "missed": [],
        "seconds": 0.0,
        "late": {},
        "packages": 0,
        "download": 0,
        "own_download": 0,
        "size": None,
        "adds": None,
        "began": None,
    }


def done(found: Done) -> ImageEnvironment:
    """Return what a stage did with an environment."""
    data = environment(found.key, found.components, found.state)
    data["action"] = found.action
    data["brought"] = list(found.brought)
    data["pending"] = list(found.pending)
    data["waits_for"] = list(found.waits_for)
    data["missed"] = list(found.missed)
    data["seconds"] = round(found.seconds, 3)
    return data


def row(found: Row) -> ImageEnvironment:
    """Return what a plan says of an environment."""
    data = environment(found.key, found.components, found.state)
    data["stages"] = dict(found.stages)
    data["packages"] = found.packages
    data["download"], data["own_download"] = found.download, found.own_download
    data["size"], data["adds"] = found.size, found.adds
    data["began"], data["seconds"] = found.began, found.seconds or 0.0
    return data


def frozen(found: FrozenEnvironment) -> ImageEnvironment:
    """Return what an image was frozen with."""
    data = environment(found.key, found.components, found.state)
    data["stages"] = dict.fromkeys(found.stages, 0)
    data["pending"] = list(found.pending)
    data["late"] = dict(found.late)
    return data
