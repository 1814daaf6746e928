"""``check``: what would fail later, found before anything is built."""

from __future__ import annotations

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.result import Call

__all__ = ["add_check", "run_check"]


def add_check(parser: ArgumentParser) -> None:
    """Add the arguments of ``check``."""
    parser.add_argument(
        "--online", action="store_true", help="ask the indexes too: are they there, do they let us in?"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(
        parser,
        "greenroom check",
        "greenroom check --online      before a build on a new machine",
        "greenroom check --json        status 1 when something would fail",
    )


def run_check(call: Call) -> Result:
    """Answer with findings; status 1 when one of them is an error.

    :raises Problems: the declaration itself is wrong.
    """
    from greenroom.checks import answering  # the full road is heavy

    known = answering.run(call.start, call.environ, online=call.arguments.online)
    numbers = {"error": 0, "warning": 0, "note": 0}
    for finding in known.findings:
        numbers[finding.severity] += 1
    data = {
        "declaration": known.declaration,
        "components": list(known.environments),
        "findings": [
            {
                "check": finding.check,
                "severity": finding.severity,
                "what": finding.what,
                "where": finding.where,
                "todo": finding.todo,
                "components": list(finding.components),
            }
            for finding in known.findings
        ],
        "numbers": numbers,
    }
    return Result("check", data, 1 if numbers["error"] else 0)
