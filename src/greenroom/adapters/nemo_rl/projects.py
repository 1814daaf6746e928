"""The uv project whose actors these are: where it is, and what its ``pyproject.toml`` declares."""

from __future__ import annotations

import os

from greenroom import actor_environments as light
from greenroom.errors import DeclarationNotFound

__all__ = ["declaration", "extras", "raw", "root"]


def declaration() -> str | None:
    """Return the declaration's path, None where there is none."""
    return light.find(os.environ.get("GREENROOM_PROJECT") or os.getcwd())


def raw() -> light.Raw:
    """Return the declaration's tables.

    :raises DeclarationNotFound: there is none.
    """
    found = declaration()
    if found is None:
        raise DeclarationNotFound(os.environ.get("GREENROOM_PROJECT") or os.getcwd())
    return light.load(found)


def root() -> str:
    """Return the uv project's directory: the declared one, else the declaration's, else the working one."""
    found = declaration()
    if found is None:
        return os.getcwd()
    tables = light.load(found)
    named = tables.section("defaults").get("project", ".")
    return os.path.normpath(os.path.join(tables.root, named if isinstance(named, str) else "."))


def extras(directory: str) -> tuple[str, ...]:
    """Return the extras that a project declares."""
    path = os.path.join(directory, "pyproject.toml")
    project = light.document(path)[1].get("project") if os.path.isfile(path) else None
    declared = project.get("optional-dependencies") if isinstance(project, dict) else None
    return tuple(declared) if isinstance(declared, dict) else ()
