"""Find what keeps actors from running on a cluster, before one is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.checks.model import Finding, Severity, from_error, merged
from greenroom.errors import RayNotInstalled
from greenroom.ray import preflight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from greenroom.project.model import Plan, Planned
    from greenroom.ray.model import NodeReport

__all__ = ["actors", "nodes"]

START = 'RAY_RUNTIME_ENV_PLUGINS=\'[{"class": "greenroom.ray.plugin.GreenroomPlugin"}]\' ray start …'
"""How a node is started so that its agent loads the plugin."""


def actors(plan: Plan, *, allow_mismatch: bool = False, needs: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return what is wrong with actors' environments for the Ray and Python of this process.

    What is not built is checked by what its lock says; nothing is started.

    :param plan: of actors.
    :param needs: extras of Ray that their use needs; looked for in what is built.
    """
    return merged(_actors(plan, allow_mismatch=allow_mismatch, needs=tuple(needs)))


def nodes(reports: Sequence[NodeReport]) -> tuple[Finding, ...]:
    """Return what is wrong with nodes that were looked at, and what is worth knowing of them."""
    return merged(finding for report in reports for finding in _node(report))


def _actors(plan: Plan, *, allow_mismatch: bool, needs: tuple[str, ...]) -> Iterator[Finding]:
    for problem in plan.problems:
        yield from from_error("ray", problem.error, problem.components)
    try:
        expected = preflight.own()
    except RayNotInstalled as error:
        yield from from_error("ray", error)
        return
    for found in plan.environments:
        distributions = {one.name: one.version for one in found.recipe.distributions}
        has = preflight.Versions(ray=distributions.get("ray"), python=found.interpreter.version)
        for wrong in preflight.problems(found.components[0], has, expected, allow_mismatch=allow_mismatch):
            yield from from_error("ray", wrong, found.components)
        yield from _extras(found, needs)


def _extras(found: Planned, needs: tuple[str, ...]) -> Iterator[Finding]:
    environment = found.store.environment(found.key)
    packages = preflight.installed(environment)
    for extra in needs if "ray" in packages else ():
        missing = preflight.lacking(environment, extra, packages)
        if missing:
            yield _finding(
                Severity.ERROR,
                f"its environment lacks {', '.join(missing)} of ray[{extra}]",
                todo=f"add ray[{extra}] to its requirements",
                components=found.components,
            )


def _node(report: NodeReport) -> Iterator[Finding]:
    where = report.address
    if report.error:
        yield _finding(Severity.ERROR, report.error, where=where)
        return
    if not report.plugin:
        yield _finding(
            Severity.WARNING,
            "the plugin is not loaded: it starts ready environments, makes none, and a missing one leaves"
            " the actor pending",
            where=where,
            todo=f"greenroom ray prepare, or start the node with {START}",
        )
    if not report.bytecode:
        yield _finding(
            Severity.WARNING,
            "its own Ray has no compiled bytecode, so each worker starts a second slower",
            where=where,
            todo="python -m compileall the cluster's site-packages, unset PYTHONDONTWRITEBYTECODE",
        )
    for found in report.environments:
        if found.error:
            yield _finding(
                Severity.ERROR,
                f"{found.outcome}: {found.error}" if found.outcome not in found.error else found.error,
                where=where,
                todo="greenroom ray prepare",
                components=found.components,
            )


def _finding(severity: str, what: str, **more: Any) -> Finding:
    return Finding(check="ray", severity=severity, what=what, **more)
