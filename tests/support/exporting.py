"""Ask uv itself what a project's lock gives, to compare greenroom's reading with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import tomli
from packaging.pylock import PackageWheel, Pylock, PylockSelectError
from packaging.tags import Tag

if TYPE_CHECKING:
    from packaging.pylock import Package

    from greenroom.components import ProjectSource
    from greenroom.interpreters.model import Interpreter
    from tests.support.workspace import Command, Outcome

__all__ = ["export_arguments", "exported"]


def export_arguments(source: ProjectSource) -> tuple[str, ...]:
    """Return the arguments of ``uv export`` that ask for the same."""
    arguments = ["export", "--frozen", "--quiet", "--format", "pylock.toml"]
    for extra in source.extras:
        arguments += ["--extra", extra]
    for group in source.groups:
        arguments += ["--group", group]
    if source.package is not None:
        arguments += ["--package", source.package]
    if not source.default_groups:
        arguments += ["--no-default-groups"]
    return tuple(arguments)


def exported(
    uv: Command, source: ProjectSource, target: Interpreter, folder: Path
) -> dict[str, str] | Outcome:
    """Return for each package what the reference implementation installs, or the refusal.

    :param folder: an empty folder beside which nothing else stands.
    """
    out = folder / "pylock.exported.toml"
    outcome = uv(*export_arguments(source), "-o", str(out), cwd=Path(source.directory), status=None)
    if outcome.status != 0:
        return outcome
    lock = Pylock.from_dict(tomli.loads(out.read_text()))
    lock.validate()
    tags = [Tag(*tag.split("-", 2)) for tag in target.tags]
    try:
        chosen = list(lock.select(environment=dict(target.markers), tags=tags))  # type: ignore[arg-type]
    except PylockSelectError:
        return outcome  # `uv export` writes what `uv sync` would refuse: two versions of one package
    return {str(package.name): _said(package, found, folder) for package, found in chosen}


def _said(package: Package, found: object, folder: Path) -> str:
    if package.vcs is not None:
        return f"git {package.vcs.commit_id} {package.vcs.subdirectory or ''}".strip()
    if package.directory is not None:
        place = os.path.normpath(folder / package.directory.path)
        return f"{'editable' if package.directory.editable else 'directory'} {place}"
    if package.archive is not None:
        return f"file {package.archive.hashes['sha256']}"
    if isinstance(found, PackageWheel):
        return f"file {found.hashes['sha256']}"
    assert package.sdist is not None
    return f"file {package.sdist.hashes['sha256']}"
