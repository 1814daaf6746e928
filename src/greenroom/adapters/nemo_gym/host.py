"""How a server's requirement of NeMo Gym itself is met: its extras, its version, its indexes."""

from __future__ import annotations

import os
import re
import shlex
import sys
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING

from greenroom.locks import requirements

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "index_strategy",
    "install_flags",
    "is_checkout",
    "local_extras",
    "more_requirements",
    "prerelease",
    "version_spec",
]

PACKAGE = "nemo-gym"
_EXTRAS = re.compile(r"\[([^\]]*)\]")


def is_checkout(directory: str | os.PathLike[str]) -> bool:
    """Tell whether a server stands in a checkout of NeMo Gym: there is a project two levels above it."""
    return os.path.exists(os.path.join(os.path.realpath(directory), "../../pyproject.toml"))


def local_extras(requirements_fpath: str | os.PathLike[str]) -> str:
    """Return the extras of the local requirement of NeMo Gym in a requirements file, as ``[a,b]``.

    :returns: empty where there are none, or no such requirement.
    """
    file = os.path.abspath(requirements_fpath)
    base = os.path.dirname(file)
    above = os.path.normpath(os.path.join(base, "../.."))
    for entry in requirements.read([file], os.environ, base=base).lines:
        if entry.path is not None and (entry.name == PACKAGE or (entry.name is None and entry.path == above)):
            said = _EXTRAS.search(entry.line.text.partition(";")[0])
            names = [name.strip() for name in said[1].split(",")] if said else []
            return f"[{','.join(filter(None, names))}]" if any(names) else ""
    return ""


def version_spec(is_editable_install: bool) -> str:  # noqa: FBT001 - the signature of the project's own
    """Return ``==<installed version>`` of NeMo Gym; empty for an editable one, and where there is none."""
    version = None if is_editable_install else _installed(tuple(sys.path))
    return "" if version is None else f"=={version}"


def install_flags(environ: Mapping[str, str] | None = None) -> str:
    """Return the flags of ``uv pip install`` that the driver's variables ask for, each with a space after it.

    :param environ: None: this process's variables.
    """
    variables = os.environ if environ is None else environ
    flags = []
    if _allows_prereleases(variables):
        flags.append("--pre")
        if not variables.get("UV_INDEX_STRATEGY"):
            flags.append("--index-strategy unsafe-best-match")
        flags.extend(shlex.quote(line) for line in more_requirements(variables))
    for name, option in (
        ("UV_INDEX_URL", "--index-url"),
        ("UV_EXTRA_INDEX_URL", "--extra-index-url"),
        ("UV_INDEX_STRATEGY", "--index-strategy"),
    ):
        if variables.get(name):
            flags.append(f"{option} {shlex.quote(variables[name])}")
    return "".join(f"{flag} " for flag in flags)


def more_requirements(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is required beside NeMo Gym itself where pre-releases are taken."""
    return ("fastapi<1.0",) if _allows_prereleases(environ) else ()


def prerelease(environ: Mapping[str, str], *, checkout: bool) -> str | None:
    """Return the policy for pre-releases: all are taken where the variable says so; uv's own counts too."""
    if _allows_prereleases(environ) and not checkout:
        return "allow"
    return environ.get("UV_PRERELEASE") or None


def index_strategy(environ: Mapping[str, str], *, checkout: bool) -> str | None:
    """Return how several indexes are gone through."""
    usual = "unsafe-best-match" if _allows_prereleases(environ) and not checkout else None
    return environ.get("UV_INDEX_STRATEGY") or usual


@lru_cache(maxsize=4)
def _installed(path: tuple[str, ...]) -> str | None:  # noqa: ARG001 - where the answer comes from
    """Return the version of NeMo Gym in this process; hundreds of servers ask."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def _allows_prereleases(environ: Mapping[str, str]) -> bool:
    return environ.get("NEMO_GYM_ALLOW_PRERELEASE", "").lower() == "true"
