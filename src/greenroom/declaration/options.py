"""Make options and launches from the keys of a table and the defaults."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from greenroom.actor_environments import normalized
from greenroom.components import Launch, Options
from greenroom.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.components import Index, Origin, Pairs
    from greenroom.declaration.kinds import Path
    from greenroom.declaration.report import Report

__all__ = ["make_launch", "make_options", "request_of"]


def make_options(
    table: dict[str, Any], path: Path, defaults: dict[str, Any], indexes: tuple[Index, ...], report: Report
) -> Options:
    """Return what a table says beside its source, from the defaults where it is silent."""
    said = {**defaults, **table}
    request, origin = request_of(table, path, defaults, report)
    place = path if "index" in table else ("defaults",)
    return Options(
        python=request,
        python_origin=origin,
        indexes=_indexes(said, place, indexes, report) if "index" in said else indexes,
        build_env=_build_env(defaults.get("build-env", []), table.get("build-env", [])),
        no_build_isolation=_no_isolation(said.get("no-build-isolation", [])),
        install_local=said.get("install-local", True),
        late_packages=_names(said.get("late-packages", [])),
        compile_bytecode=said.get("compile-bytecode", True),
        link_mode=said.get("link-mode"),
        allow_clash=_names(said.get("allow-clash", [])),
        post_install=tuple(tuple(command) for command in said.get("post-install", [])),
        smoke=tuple(said.get("smoke", [])),
        prerelease=said.get("prerelease"),
        index_strategy=said.get("index-strategy"),
    )


def make_launch(
    table: dict[str, Any], defaults: dict[str, Any], root: str, directory: str | None = None
) -> Launch:
    """Return what the process of a component is started with."""
    file = table.get("env-file", defaults.get("env-file"))
    return Launch(
        variables=_pairs({**defaults.get("env", {}), **table.get("env", {})}),
        env_file=None if file is None else os.path.normpath(os.path.join(root, file)),
        directory=directory,
        command=tuple(table.get("command", ())),
    )


def request_of(
    table: dict[str, Any], path: Path, defaults: dict[str, Any], report: Report
) -> tuple[str | None, Origin | None]:
    """Return the request for an interpreter and where it stands; a relative path becomes absolute."""
    place = path if "python" in table else ("defaults",)
    request = table.get("python", defaults.get("python"))
    if request is None:
        return None, None
    if "/" in request:
        request = os.path.normpath(os.path.join(report.raw.root, request))
    return request, report.origin((*place, "python"))


def _pairs(values: dict[str, str]) -> Pairs:
    return tuple(sorted(values.items()))


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(normalized(name) for name in names))


def _build_env(*said: list[str] | dict[str, str]) -> tuple[tuple[str, str | None], ...]:
    values: dict[str, str | None] = {}
    for one in said:
        values |= one if isinstance(one, dict) else dict.fromkeys(one)
    return tuple(sorted(values.items()))


def _no_isolation(said: list[str] | dict[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    items = said.items() if isinstance(said, dict) else ((name, []) for name in said)
    return tuple((normalized(name), _names(sees)) for name, sees in items)


def _indexes(
    said: dict[str, Any], path: Path, indexes: tuple[Index, ...], report: Report
) -> tuple[Index, ...]:
    known = {normalized(index.name): index for index in indexes}
    for at, name in enumerate(said["index"]):
        if normalized(name) not in known:
            where = report.where((*path, "index", at))
            names = [index.name for index in indexes]
            report.add(UnknownName("index", name, known=names, where=where))
    return tuple(known[normalized(name)] for name in said["index"] if normalized(name) in known)
