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
def _ranks(tags: tuple[str, ...]) -> Mapping[Tag, int]:
    return {Tag(*tag.split("-", 2)): rank for rank, tag in reversed(list(enumerate(tags)))}


def best_wheel(wheels: Iterable[File], tags: tuple[str, ...]) -> File | None:
    """Return the wheel that fits a target best, or None when none fits."""
    ranks = _ranks(tags)
    best: tuple[tuple[int, int, str, str], File] | None = None
    for wheel in wheels:
        parsed = _parsed(wheel.name)
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
