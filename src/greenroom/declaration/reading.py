"""Find the declaration and read it into frozen data, with every problem said at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import Declaration

__all__ = ["find_declaration", "read"]


def find_declaration(start: str | None, environ: Mapping[str, str]) -> str:
    """Return the absolute path of the declaration that counts at ``start``.

    :param start: a directory (looked at first, then its parents) or the declaration's file;
        None: ``GREENROOM_PROJECT``, else the working directory.
    :param environ: the caller's variables.
    :returns: a ``greenroom.toml``, or a ``pyproject.toml`` with ``[tool.greenroom]``.
    :raises DeclarationNotFound: neither ``start`` nor a directory above holds one.
    """
    raise NotImplementedError


def read(path: str, environ: Mapping[str, str]) -> Declaration:
    """Return the checked declaration that stands in ``path``.

    :param path: a file as :func:`find_declaration` returns it.
    :param environ: the caller's variables.
    :raises Problems: with every problem found, each with file, line and the nearest spelling.
    """
    raise NotImplementedError
