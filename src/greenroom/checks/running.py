"""Run the preflight: every check on the same facts, each cause said once."""

from __future__ import annotations

from time import time_ns

from greenroom.checks import actors, declared, failures, files, installer, memory, places, pythons, secrets
from greenroom.checks.facts import gather
from greenroom.checks.looking import build_variables, looked
from greenroom.checks.model import Finding, merged
from greenroom.checks.needing import needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from greenroom.checks.facts import Facts
    from greenroom.components import Declaration

__all__ = ["run"]

CHECKS: tuple[Callable[[Facts], Iterable[Finding]], ...] = (
    failures.check,
    declared.check,
    actors.check,
    pythons.check,
    installer.check,
    secrets.check,
    files.check,
)
"""Every check that asks neither the network nor the disk's state, in the order of their findings."""


def run(declaration: Declaration, environ: Mapping[str, str], *, online: bool = False) -> tuple[Finding, ...]:
    """Return what would fail later, and what is worth knowing before anything is built.

    Nothing is built, and nothing written but a memory below the user's cache. A declaration that is
    wrong in itself does not get here, :func:`greenroom.declaration.reading.read` refuses it.

    :param environ: the caller's variables.
    :param online: whether indexes are asked.
    :returns: errors first, then warnings, then notes.
    """
    asked = time_ns()
    facts = gather(declaration, environ)
    found: list[Finding] = []
    for check in CHECKS:
        found.extend(check(facts))
    needed = needs(facts)
    whole = memory.Found(
        asked=asked,
        looked=tuple(looked(facts)),
        variables=tuple(build_variables(facts)),
        impatient=any(wanted.assumed for wanted in facts.wanted),
        environments=tuple(name for wanted in facts.wanted for name in wanted.names),
        findings=tuple(found),
        needs=needed,
    )
    memory.save(declaration.file, environ, whole)
    found.extend(places.check(needed))
    if online:
        from greenroom.checks import online as network  # noqa: PLC0415 - httpx is heavy: only when asked for

        found.extend(network.check(facts))
    return merged(found)
