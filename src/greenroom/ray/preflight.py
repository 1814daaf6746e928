"""Tell from what is written in an environment whether the cluster takes workers from it.

Nothing is started: the names of the dist-info folders say what is installed.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import (
    MinorMismatch,
    PatchMismatch,
    RayExtraMissing,
    RayMismatch,
    RayMissing,
    RayNotInstalled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.errors import GreenroomError

__all__ = ["Versions", "check", "installed", "lacking", "own", "problems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The versions that a driver, a node or an environment has."""

    ray: str | None
    """None: Ray is not installed."""
    python: str


def own() -> Versions:
    """Return the versions of this process: Ray refuses drivers and nodes that differ from the cluster.

    :raises RayNotInstalled: this process has no Ray.
    """
    from importlib import metadata  # noqa: PLC0415 - not for the command's start

    try:
        ray = metadata.version("ray")
    except metadata.PackageNotFoundError as error:
        raise RayNotInstalled from error
    return Versions(ray=ray, python=platform.python_version())


def installed(environment: str) -> dict[str, str]:
    """Return normalized name -> version of what an environment holds, by its dist-info folders."""
    found: dict[str, str] = {}
    for folder in _site_packages(environment):
        for entry in os.listdir(folder):
            name, dash, version = entry.removesuffix(".dist-info").rpartition("-")
            if dash and entry.endswith(".dist-info"):
                found[_normalized(name)] = version
    return found


def check(
    actor: str,
    environment: str,
    python: str,
    expected: Versions,
    *,
    needs: Iterable[str] = (),
    allow_mismatch: bool = False,
) -> None:
    """Refuse an environment whose workers would not run as they should.

    :param actor: who asks, for the message.
    :param python: the full version of the environment's interpreter.
    :param needs: extras of Ray that the use needs, for example ``serve``.
    :param allow_mismatch: take another patch release of Python and another Ray; never another minor.
    :raises RayMissing: it has no Ray.
    :raises RayMismatch: it has another Ray.
    :raises PatchMismatch: its Python is another patch release.
    :raises MinorMismatch: its Python is another minor version.
    :raises RayExtraMissing: packages of an extra of Ray are missing.
    """
    packages = installed(environment)
    has = Versions(ray=packages.get("ray"), python=python)
    for error in problems(actor, has, expected, allow_mismatch=allow_mismatch):
        raise error
    for extra in needs:
        missing = lacking(environment, extra, packages)
        if missing:
            raise RayExtraMissing(extra, missing, actor=actor)


def problems(
    actor: str, has: Versions, expected: Versions, *, allow_mismatch: bool = False
) -> Iterator[GreenroomError]:
    """Yield what keeps workers of these versions out of a cluster of other versions."""
    if _minor(has.python) != _minor(expected.python):
        yield MinorMismatch(has.python, expected.python, actor=actor)
    elif has.python != expected.python and not allow_mismatch:
        yield PatchMismatch(has.python, expected.python, actor=actor)
    if has.ray is None:
        yield RayMissing(expected.ray or "", actor=actor)
    elif has.ray != expected.ray and not allow_mismatch:
        yield RayMismatch(has.ray, expected.ray or "none", actor=actor)


def lacking(environment: str, extra: str, packages: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages of an extra of Ray that an environment lacks, by Ray's own metadata."""
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - rarely asked

    found = []
    for line in _metadata(environment, packages.get("ray", "")):
        if line.startswith("Requires-Dist:") and "extra" in line:
            try:
                wanted = Requirement(line.partition(":")[2].strip())
            except InvalidRequirement:
                continue
            marker = wanted.marker
            plain = marker is not None and marker.evaluate({"extra": ""})
            if marker is not None and not plain and marker.evaluate({"extra": extra}):
                found.append(_normalized(wanted.name))
    return tuple(sorted({name for name in found if name not in packages}))


def _metadata(environment: str, version: str) -> list[str]:
    for folder in _site_packages(environment):
        try:
            with open(f"{folder}/ray-{version}.dist-info/METADATA", encoding="utf-8") as stream:
                return stream.read().partition("\n\n")[0].splitlines()
        except OSError:
            continue
    return []


def _site_packages(environment: str) -> list[str]:
    library = os.path.join(environment, "lib")
    try:
        names = sorted(name for name in os.listdir(library) if name.startswith("python"))
    except OSError:
        return []
    folders = [f"{library}/{name}/site-packages" for name in names]
    return [folder for folder in folders if os.path.isdir(folder)]


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
