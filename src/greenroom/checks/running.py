"""Run the preflight: every check on the same facts, each cause said once."""

from __future__ import annotations

from greenroom.checks import actors, declared, failures, files, installer, places, pythons, secrets
from greenroom.checks.facts import gather
from greenroom.checks.model import Finding, merged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from greenroom.checks.facts import Facts
    from greenroom.components import Declaration

__all__ = ["CHECKS", "run", "status"]

CHECKS: tuple[Callable[[Facts], Iterable[Finding]], ...] = (
    failures.check,
    declared.check,
    actors.check,
    pythons.check,
    installer.check,
    secrets.check,
    places.check,
    files.check,
)
"""Every check that asks no network, in the order of their findings."""


def run(declaration: Declaration, environ: Mapping[str, str], *, online: bool = False) -> tuple[Finding, ...]:
    """Return what would fail later, and what is worth knowing before anything is built.

    Nothing is written and nothing is built; a declaration that is wrong in itself does not get here,
    :func:`greenroom.declaration.reading.read` refuses it.

    :param environ: the caller's variables.
    :param online: whether indexes are asked.
    :returns: errors first, then warnings, then notes.
    """
    facts = gather(declaration, environ)
    found: list[Finding] = []
    for check in CHECKS:
        found.extend(check(facts))
    if online:
        from greenroom.checks import online as network  # noqa: PLC0415 - httpx is heavy: only when asked for

        found.extend(network.check(facts))
    return merged(found)


def status(findings: Iterable[Finding]) -> int:
    """Return the exit status that belongs to some findings: 1 when one of them is an error."""
    return 1 if any(finding.is_error for finding in findings) else 0
