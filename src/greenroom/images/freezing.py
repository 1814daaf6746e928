"""Write the fingerprint of an image: everything that decided its environments."""

from __future__ import annotations

import os
import platform
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from greenroom import __version__
from greenroom.errors import RecordUnreadable, StoreFailed
from greenroom.images import stages
from greenroom.images.frozen import SCHEMA, Frozen, FrozenEnvironment, Source, place
from greenroom.project import planning
from greenroom.recipes.model import Build, Late
from greenroom.store import layout, records
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.project.model import Input, Plan, Planned
    from greenroom.store.layout import Store

__all__ = ["freeze"]


def freeze(path: str, environ: Mapping[str, str]) -> Frozen:
    """Write the fingerprint into the store that builds.

    :param path: the declaration.
    :raises NoStoreWritable: every store is read-only.
    :raises StoreFailed: the operating system refuses.
    """
    setting = planning.setting(path, environ, watch=True)
    plan = planning.Planner(setting, environ, watch=True).plan(setting.declaration.components)
    store = layout.building(setting.stores)
    frozen = _frozen(plan, store, environ)
    _write(place(store), msgspec.json.format(msgspec.json.encode(frozen), indent=1) + b"\n")
    return frozen


def _frozen(plan: Plan, store: Store, environ: Mapping[str, str]) -> Frozen:
    declaration = plan.setting.declaration
    order = stages.names(declaration)
    environments = []
    for found in plan.environments:
        brought = set(stages.assign(found, declaration.stages).stages)
        environments.append(_environment(found, tuple(stage for stage in order if stage in brought)))
    names = {name for found in plan.environments for name, _ in found.supply.build_env}
    values = {name: environ.get(name) for name in (*names, "GREENROOM_DRIVER")}
    return Frozen(
        schema=SCHEMA,
        greenroom=__version__,
        platform=f"{platform.system()}-{platform.machine()}-{platform.libc_ver()[0] or 'libc'}",
        declaration=declaration.file,
        store=store.path,
        stages=order,
        environments=tuple(environments),
        inputs=tuple(sorted((seen.path, seen.sha256) for seen in plan.inputs if _counts(seen))),
        sources=tuple(dict.fromkeys(source for found in plan.environments for source in _sources(found))),
        variables=tuple(
            (name, None if value is None else sha256(value.encode()).hexdigest())
            for name, value in sorted(values.items())
        ),
    )


def _counts(seen: Input) -> bool:
    """Tell whether an input's content is known, or it is absent: local sources are compared as sources."""
    return seen.sha256 is not None or not os.path.lexists(seen.path)


def _environment(found: Planned, brought: tuple[str, ...]) -> FrozenEnvironment:
    late = {item.name for item in found.recipe.distributions if isinstance(item.content, Late)}
    try:
        record = records.read(found.store, found.key) or records.read_partial(found.store, found.key)
    except RecordUnreadable:
        record = None
    state = State.MISSING if record is None else State.PARTIAL if record.pending else State.READY
    return FrozenEnvironment(
        key=found.key,
        components=found.components,
        state=state,
        stages=brought,
        pending=() if record is None else record.pending,
        uv="" if record is None else record.uv,
        late=()
        if record is None
        else tuple((item.name, item.wheel) for item in record.installed if item.name in late and item.wheel),
    )


def _sources(found: Planned) -> Iterable[Source]:
    contents = {item.name: item.content for item in found.recipe.distributions}
    digests = dict(found.supply.metadata)
    for origin in found.supply.origins:
        if origin.directory is None or origin.name not in found.supply.local:
            continue
        path = os.path.realpath(os.path.join(origin.directory.path, origin.directory.subdirectory or ""))
        content = contents[origin.name]
        if isinstance(content, Build):
            tree = content.source.removeprefix("tree:")
            yield Source(name=origin.name, path=path, kind="tree", sha256=tree)
        else:
            yield Source(name=origin.name, path=path, kind="metadata", sha256=digests.get(origin.name, ""))


def _write(path: str, text: bytes) -> None:
    temporary = f"{path}.{token_hex(6)}"
    try:
        with open(temporary, "xb") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreFailed.of("write the fingerprint", path, error) from error
