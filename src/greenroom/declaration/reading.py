"""Find the declaration and read it into frozen data, with every problem said at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from greenroom import actor_environments
from greenroom.actor_environments import Fault
from greenroom.errors import DeclarationNotFound, DirectoryVanished, Problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import Declaration

__all__ = ["find_declaration", "read"]


def find_declaration(start: str | None, environ: Mapping[str, str]) -> str:
    """Return the absolute path of the declaration that counts at ``start``.

    :param start: a directory (looked at first, then its parents) or the declaration's file;
        None: ``GREENROOM_PROJECT``, else the working directory.
    :param environ: the caller's variables.
    :returns: a ``greenroom.toml``, or a ``pyproject.toml`` with ``[tool.greenroom]``; its directory
        is resolved, so that a project is the same whichever link leads to it.
    :raises DeclarationNotFound: neither ``start`` nor a directory above holds one.
    :raises UnreadableDeclaration: a ``pyproject.toml`` on the way names greenroom and is not valid.
    :raises DirectoryVanished: nothing is named, and the working directory is gone.
    """
    try:
        place = start or environ.get("GREENROOM_PROJECT") or os.getcwd()
    except OSError as error:
        raise DirectoryVanished from error
    if os.path.isfile(place):
        return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
    from greenroom.declaration.report import error_of  # noqa: PLC0415 - the way without problems needs none

    try:
        found = actor_environments.find(place) if os.path.isdir(place) else None
    except Fault as fault:
        raise error_of(fault) from fault
    if found is None:
        raise DeclarationNotFound(place)
    return found


def read(path: str, environ: Mapping[str, str]) -> Declaration:  # noqa: ARG001 - see below
    """Return the checked declaration that stands in ``path``.

    :param path: a file as :func:`find_declaration` returns it.
    :param environ: the caller's variables; none of them changes what a declaration means.
    :raises Problems: with every problem found, each with file, line and the nearest spelling.
    """
    from tomli import loads  # noqa: PLC0415 - compiled: a third of tomllib's time

    from greenroom.declaration.assembly import Assembly  # noqa: PLC0415 - finding needs none of it
    from greenroom.declaration.report import error_of  # noqa: PLC0415 - likewise

    try:
        raw = actor_environments.load(path, loads)
    except Fault as fault:
        raise Problems([error_of(fault)]) from fault
    assembly = Assembly(raw, loads)
    declaration = assembly.declaration()
    if assembly.report.errors:
        raise Problems(assembly.report.in_order())
    return declaration
