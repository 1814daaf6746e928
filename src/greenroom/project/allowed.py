"""Which directories components may live in: ``GREENROOM_ALLOWED_ROOTS``."""

from __future__ import annotations

import os

from greenroom.errors import OutsideRoots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from greenroom.components import Component

__all__ = ["check", "problem", "roots"]

VARIABLE = "GREENROOM_ALLOWED_ROOTS"


def roots(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the allowed roots as real paths; none: every directory is allowed."""
    said = environ.get(VARIABLE, "").split(os.pathsep)
    return tuple(os.path.realpath(root) for root in said if root)


def problem(name: str, directory: str, allowed: Sequence[str]) -> OutsideRoots | None:
    """Return what is wrong with a component's directory, by its real path; None: it is allowed."""
    if not allowed:
        return None
    real = os.path.realpath(directory)
    if any(os.path.commonpath((real, root)) == root for root in allowed):
        return None
    return OutsideRoots(name, real, allowed)


def check(components: Iterable[Component], environ: Mapping[str, str]) -> None:
    """Refuse servers whose directory lies outside, before anything of theirs is built.

    :raises OutsideRoots: the first one.
    """
    allowed = roots(environ)
    for component in components if allowed else ():
        if component.kind == "server" and component.launch.directory is not None:
            found = problem(component.name, component.launch.directory, allowed)
            if found is not None:
                raise found
