"""Tell what an image will hold: stages, environments, packages, sizes, and what is shared."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from greenroom.errors import RecordUnreadable
from greenroom.images import stages
from greenroom.recipes.model import Wheel
from greenroom.store import records

if TYPE_CHECKING:
    from greenroom.images.stages import Assigned
    from greenroom.project.model import Plan, Planned
    from greenroom.store.model import Record

__all__ = ["Overview", "Row", "overview"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One environment of the image."""

    key: str
    components: tuple[str, ...]
    state: str
    stages: tuple[tuple[str, int], ...]
    """Stage -> how many distributions it brings, in the stages' order."""
    packages: int
    download: int
    """Bytes of its files that the lock gives sizes for."""
    unsized: int
    """Files for which it gives none: builds of local sources, late packages."""
    own_download: int
    """Bytes that no environment before it downloads."""
    size: int | None
    """Bytes of its files on disk; None: not built."""
    adds: int | None
    """Bytes that it adds to the layers, equal files of those before it left out; None: not measured."""
    began: float | None = None
    """When its last stage began, seconds since the epoch; None: not built."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The whole image."""

    stages: tuple[str, ...]
    rows: tuple[Row, ...]
    drivers: tuple[str, ...]
    cache_keys: tuple[tuple[str, str], ...]
    """Stage -> a text that changes when anything that the stage builds does."""


def overview(plan: Plan, *, measured: bool = False) -> Overview:
    """Return what the image of a plan will hold.

    :param measured: walk through what is built, and tell what each environment adds.
    """
    declaration = plan.setting.declaration
    order = stages.names(declaration)
    rows = []
    seen: set[str] = set()
    files: set[tuple[int, int]] = set()
    keys: dict[str, list[str]] = {stage: [] for stage in order}
    for found in plan.environments:
        assigned = stages.assign(found, declaration.stages)
        rows.append(_row(assigned, order, seen, files if measured else None))
        for stage, _ in rows[-1].stages:
            keys[stage].append(found.key)
    return Overview(
        stages=order,
        rows=tuple(rows),
        drivers=plan.drivers,
        cache_keys=tuple((stage, _digest(found)) for stage, found in keys.items()),
    )


def _row(
    assigned: Assigned, order: tuple[str, ...], seen: set[str], files: set[tuple[int, int]] | None
) -> Row:
    planned = assigned.planned
    counts = [(stage, len(assigned.brought_by(stage))) for stage in order]
    sizes = _downloads(planned)
    new = {digest: size for digest, size in sizes.items() if digest not in seen}
    seen.update(sizes)
    record = _record(planned)
    built = record is not None
    return Row(
        key=planned.key,
        components=planned.components,
        state=planned.state,
        stages=tuple((stage, count) for stage, count in counts if count),
        packages=len(planned.recipe.distributions),
        download=sum(sizes.values()),
        unsized=len(planned.recipe.distributions) - len(sizes),
        own_download=sum(new.values()),
        size=sum(item.size for item in record.installed) if record is not None else None,
        adds=_added(planned.store.environment(planned.key), files) if built and files is not None else None,
        began=record.built_at - record.seconds if record is not None else None,
        seconds=record.seconds if record is not None else None,
    )


def _downloads(planned: Planned) -> dict[str, int]:
    """Return digest -> bytes of the files that are fetched for an environment, as the lock says."""
    found = {}
    for item, origin in zip(planned.recipe.distributions, planned.supply.origins, strict=True):
        if origin.file is not None and origin.file.size is not None:
            name = item.content.sha256 if isinstance(item.content, Wheel) else origin.file.sha256
            found[name or origin.file.location] = origin.file.size
    return found


def _record(planned: Planned) -> Record | None:
    try:
        return records.read(planned.store, planned.key) or records.read_partial(planned.store, planned.key)
    except RecordUnreadable:
        return None


def _added(root: str, seen: set[tuple[int, int]]) -> int:
    """Return the bytes of files that stand nowhere before: a layer holds a linked file once."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            status = os.lstat(os.path.join(folder, name))
            identity = (status.st_dev, status.st_ino)
            if identity not in seen:
                seen.add(identity)
                total += status.st_size
    return total


def _digest(keys: list[str]) -> str:
    return sha256("\n".join(sorted(keys)).encode()).hexdigest()[:24]
