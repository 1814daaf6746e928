"""``greenroom ray``: the environments of actors on every node of a Ray cluster."""

from __future__ import annotations

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence
    from typing import Any

    from greenroom.checks.model import Finding
    from greenroom.cli.result import Call
    from greenroom.ray.model import Preparation, Said

__all__ = ["add_ray", "run_ray"]

_NOT_READY = 3


def add_ray(parser: ArgumentParser) -> None:
    """Add the arguments of ``ray``."""
    parser.add_argument(
        "action",
        choices=("prepare", "status", "check"),
        help="make ready on every node; tell what is ready where; find what would fail",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these actors")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="the cluster (also RAY_ADDRESS); default: this machine's"
    )
    parser.add_argument(
        "--node", metavar="NODE", action="append", help="only this node, by id or address; repeatable"
    )
    parser.add_argument(
        "--needs", metavar="EXTRA", action="append", help="check for an extra of Ray: serve, data; repeatable"
    )
    parser.add_argument(
        "--allow-mismatch", action="store_true", help="take another patch release of Python, and another Ray"
    )
    parser.add_argument("--json", action="store_true", help="print events and the result as lines of JSON")
    examples(
        parser,
        "greenroom ray check           before the first launch",
        "greenroom ray prepare         on the head node, beside the cluster's Ray",
        "greenroom ray status --address 10.0.0.1:6379",
    )


def run_ray(call: Call) -> Result:
    """Ask the nodes of a cluster.

    :raises RayNotRunning: no cluster answers.
    :raises UnknownActor: a name is not a declared actor.
    """
    action: Callable[[Call], Result] = {"prepare": _prepare, "status": _status, "check": _check}[
        call.arguments.action
    ]
    return action(call)


def _prepare(call: Call) -> Result:
    from greenroom.ray import clusters, preparing  # Ray is heavy

    given = call.arguments
    clusters.connect(given.address, call.environ)
    report = preparing.try_prepare(
        given.names or None,
        given.node,
        project=_place(call),
        on_event=_observer(call),
        allow_mismatch=given.allow_mismatch,
    )
    return Result("ray", _data("prepare", report), 0 if report.ok else 1)


def _status(call: Call) -> Result:
    from greenroom.ray import clusters, preparing  # Ray is heavy

    given = call.arguments
    clusters.connect(given.address, call.environ)
    report = preparing.survey(given.names or None, given.node, project=_place(call))
    return Result("ray", _data("status", report), 0 if report.ok else _NOT_READY)


def _check(call: Call) -> Result:
    from greenroom.checks.model import Finding, Severity, merged
    from greenroom.errors import RayNotInstalled, RayNotRunning
    from greenroom.project import facade
    from greenroom.ray import checking, clusters, preparing
    from greenroom.ray.model import Preparation

    given = call.arguments
    project = facade.load(call.start, environ=call.environ)
    names = preparing.declared(given.names or None, project)
    plan = project.plan(names)
    allowed = given.allow_mismatch
    found = list(checking.actors(plan, allow_mismatch=allowed, needs=given.needs or ())) if names else []
    report = Preparation(wanted=(), nodes=())
    try:
        clusters.connect(given.address, call.environ)
        wanted = preparing.planned(plan)
        report = preparing.asked(wanted, given.node, allow_mismatch=allowed)
        found += checking.nodes(report.nodes)
    except RayNotInstalled:
        pass  # said of the actors already
    except RayNotRunning as error:
        if given.address or call.environ.get("RAY_ADDRESS"):
            raise
        found.append(
            Finding(check="ray", severity=Severity.NOTE, what=f"nodes were not looked at: {error.what}")
        )
    data = _data("check", report, merged(found))
    return Result("ray", data, 1 if data["numbers"]["error"] else 0)


def _place(call: Call) -> str | None:
    from greenroom.declaration import reading

    return reading.find_declaration(call.start, call.environ)


def _observer(call: Call) -> Callable[[Said], None]:
    from greenroom.cli.jsonlines import observe
    from greenroom.cli.terminal import write

    if call.json:
        return lambda said: observe(said, call)
    if call.quiet:
        return lambda _: None

    def show(said: Said) -> None:
        import sys

        write(f"{said.address}: {said.text}\n", sys.stderr)

    return show


def _data(action: str, report: Preparation, findings: Sequence[Finding] = ()) -> dict[str, Any]:
    import json

    import msgspec

    numbers = {"error": 0, "warning": 0, "note": 0}
    for finding in findings:
        numbers[finding.severity] += 1
    said = json.loads(msgspec.json.encode(report))
    ok = not numbers["error"] if action == "check" else report.ok
    listed = json.loads(msgspec.json.encode(list(findings)))
    return {"action": action, "ok": ok, **said, "findings": listed, "numbers": numbers}
