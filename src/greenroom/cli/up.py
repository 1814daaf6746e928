"""``greenroom up``: build what is missing, start servers, and stay with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.cli import fleet
from greenroom.cli.parsing import examples
from greenroom.cli.result import Result
from greenroom.project import answering

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.result import Call
    from greenroom.project.model import Problem
    from greenroom.servers.starting import Started
    from greenroom.snapshot import Answer

__all__ = ["add_up", "run_up"]

FINAL = frozenset({"stopped", "completed", "failed"})


def add_up(parser: ArgumentParser) -> None:
    """Add the arguments of ``up``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these servers and what they need")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="servers with this tag")
    parser.add_argument(
        "-d", "--detach", action="store_true", help="leave them running; return when they are ready"
    )
    parser.add_argument("--no-wait", action="store_true", help="with --detach: return at once")
    parser.add_argument(
        "--survive",
        action="store_true",
        help="servers outlive a supervisor that is killed; their logs are not rotated",
    )
    parser.add_argument(
        "--offline", action="store_true", help="build from what the store and uv's cache hold"
    )
    parser.add_argument("--json", action="store_true", help="print events and the result as lines of JSON")
    examples(
        parser,
        "greenroom up                    all servers; Ctrl-C stops them",
        "greenroom up math --detach      math and what it needs, in the background",
        "greenroom up --tag rewards",
        "greenroom up                    again: only what differs is started anew",
    )


def run_up(call: Call) -> Result:
    """Start servers; without ``--detach`` stay until they end.

    :raises UnknownServer: a name or tag is none's.
    :raises OutsideRoots: a directory is not allowed.
    :raises PortTaken: a fixed port is another program's.
    """
    from greenroom.errors import Problems
    from greenroom.servers import specs, starting

    given = call.arguments
    file = fleet.declaration(call)
    chosen = specs.choose(answering.known(call.start, call.environ).answers, given.names, given.tag, file)
    specs.check(chosen, call.environ)
    ready, problems = _built(call, chosen, file)
    made = specs.make(ready, call.environ, file)
    if not made:
        raise Problems(problem.error for problem in problems)
    started = starting.start(
        fleet.place(call),
        file,
        made,
        call.environ,
        detach=given.detach,
        prune=not given.names and not given.tag and not problems,
        survive=given.survive,
    )
    units, status = _stay(call, started, {spec.name for spec in made})
    for problem in problems:
        from greenroom.cli import terminal

        terminal.complain(str(problem.error))
    status = max([status, *(problem.error.status for problem in problems)])
    data = {"declaration": file, "supervisor": started.pid if given.detach else None, "units": units}
    return Result("up", data, status)


def _built(call: Call, chosen: tuple[Answer, ...], file: str) -> tuple[list[Answer], tuple[Problem, ...]]:
    """Build what is missing, and return the servers that can be started, and why others cannot."""
    missing = [answer.name for answer in chosen if answering.not_ready(answer) is not None]
    if not missing:
        return list(chosen), ()
    from greenroom.cli import observing  # the full road is heavy, so from here on
    from greenroom.project import syncing

    with observing.observer(call) as observer:
        report = syncing.sync(
            file, call.environ, names=missing, observer=observer, offline=call.arguments.offline
        )
    names = {answer.name for answer in chosen}
    known = [found for found in answering.known(call.start, call.environ).answers if found.name in names]
    return [found for found in known if answering.not_ready(found) is None], (
        *report.failed,
        *report.problems,
    )


def _stay(call: Call, started: Started, names: set[str]) -> tuple[list[dict[str, Any]], int]:
    from greenroom.cli.attached import Attached

    attached = Attached(call, started, names)
    if not call.arguments.detach:
        return attached.follow()
    return attached.until_ready() if not call.arguments.no_wait else (attached.now(), 0)
