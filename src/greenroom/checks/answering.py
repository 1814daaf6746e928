"""Answer a preflight by whichever road is open: what was remembered when it still holds, else all anew."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.checks import memory
from greenroom.checks.model import Finding, merged
from greenroom.project.locating import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Known", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a preflight found."""

    declaration: str
    """The declaration's path."""
    environments: tuple[str, ...]
    """The components that have an environment."""
    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes."""


def run(start: str | None, environ: Mapping[str, str], *, online: bool = False) -> Known:
    """Check the declaration that counts at a place.

    :param start: a directory or the declaration's file; None: ``GREENROOM_PROJECT``, else the
        working directory.
    :param environ: the caller's variables.
    :param online: whether indexes are asked.
    :raises DeclarationNotFound: there is no declaration.
    :raises Problems: it has errors, all of them at once.
    """
    found = locate(start, environ)
    remembered = memory.load(found, environ) if found is not None and not online else None
    if remembered is not None:
        return Known(
            declaration=remembered.declaration,
            environments=remembered.environments,
            findings=merged(remembered.findings()),
        )
    from greenroom.checks import running  # noqa: PLC0415 - the full road is heavy
    from greenroom.declaration import reading  # noqa: PLC0415

    file = reading.find_declaration(start, environ)
    declaration = reading.read(file, environ)
    return Known(
        declaration=file,
        environments=tuple(found.name for found in declaration.components if found.spec is not None),
        findings=running.run(declaration, environ, online=online),
    )
