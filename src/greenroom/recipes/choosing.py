"""Choose the one file of a distribution that a target installs.

Order of wheels: the target's tags, most specific first, then the higher build number (PyPA
specification «Binary distribution format»).
"""

from __future__ import annotations

from functools import cache, lru_cache

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.locks.model import File

__all__ = ["best_wheel", "tags_of"]


@cache
def _parsed(name: str) -> tuple[tuple[int, str], frozenset[Tag]] | None:
    """Return a wheel's build number and tags; None for a name that no installer accepts."""
    try:
        _, _, build, tags = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return None
    return (build[0], build[1]) if build else (-1, ""), tags


@lru_cache(maxsize=32)
def _ranks(tags: tuple[str, ...]) -> tuple[Mapping[Tag, int], frozenset[str]]:
    """Return the rank of each tag, and the tags as file names spell them when they name only one."""
    ranks = {Tag(*tag.split("-", 2)): rank for rank, tag in reversed(list(enumerate(tags)))}
    return ranks, frozenset(tags)


def _may_fit(name: str, tags: frozenset[str]) -> bool:
    """Tell cheaply whether a wheel can fit: most of a lock's thousands are for another platform."""
    cells = name.removesuffix(".whl").lower().rsplit("-", 3)
    if len(cells) != 4:
        return False
    _, pythons, abis, platforms = cells
    return any(
        f"{python}-{abi}-{platform}" in tags
        for python in pythons.split(".")
        for abi in abis.split(".")
        for platform in platforms.split(".")
    )


def best_wheel(wheels: Iterable[File], tags: tuple[str, ...]) -> File | None:
    """Return the wheel that fits a target best, or None when none fits."""
    ranks, spelled = _ranks(tags)
    best: tuple[tuple[int, int, str, str], File] | None = None
    for wheel in wheels:
        parsed = _parsed(wheel.name) if _may_fit(wheel.name, spelled) else None
        if parsed is None:
            continue
        rank = min((ranks[tag] for tag in parsed[1] if tag in ranks), default=None)
        if rank is None:
            continue
        order = (-rank, parsed[0][0], parsed[0][1], wheel.name)
        if best is None or order > best[0]:
            best = (order, wheel)
    return best[1] if best else None


def tags_of(wheels: Iterable[File]) -> tuple[str, ...]:
    """Return the tags of wheels as their names spell them, for messages."""
    return tuple(
        dict.fromkeys("-".join(wheel.name.removesuffix(".whl").rsplit("-", 3)[1:]) for wheel in wheels)
    )
