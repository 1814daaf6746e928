"""Order the builds that see the environment that they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.recipes.model import Build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.recipes.model import Distribution, Origins

__all__ = ["in_order"]


def in_order(chained: list[tuple[Distribution, Origins]]) -> Iterator[tuple[Distribution, Origins]]:
    """Yield builds without isolation so that each comes after those of them that it sees."""
    waiting = {distribution.name: (distribution, origin) for distribution, origin in chained}
    while waiting:
        free = [name for name, pair in waiting.items() if not _seen(pair[0]) & (waiting.keys() - {name})]
        # A loop of builds that see each other has no right order: take them as they come.
        for name in free or list(waiting)[:1]:
            yield waiting.pop(name)


def _seen(distribution: Distribution) -> set[str]:
    content = distribution.content
    entries = content.inputs.sees if isinstance(content, Build) else ()
    return {entry.partition("==")[0].partition("@")[0] for entry in entries}
