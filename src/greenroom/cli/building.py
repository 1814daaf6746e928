"""``greenroom lock`` and ``greenroom sync``: make what is missing, and show how it goes."""

from __future__ import annotations

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result, problems_of
from greenroom.project import answering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.contract.reports import Lock, Outdated, Sync
    from greenroom.cli.result import Call
    from greenroom.project.model import SyncReport

__all__ = ["add_lock", "add_sync", "run_lock", "run_sync"]


def add_lock(parser: ArgumentParser) -> None:
    """Add the arguments of ``lock``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these components' locks")
    parser.add_argument("--upgrade", action="store_true", help="resolve anew, forget the pins that are there")
    parser.add_argument("--offline", action="store_true", help="use only what uv's cache holds")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; status 2 when a lock is out of date"
    )
    parser.add_argument("--json", action="store_true", help="print events and the result as lines of JSON")
    examples(
        parser,
        "greenroom lock",
        "greenroom lock math --upgrade",
        "greenroom lock --check        in continuous integration",
        "uv lock                       for a uv project: its lock is uv's own",
    )


def run_lock(call: Call) -> Result:
    """Write the locks that are missing or out of date.

    :raises UnknownComponent: a name is not declared.
    """
    from greenroom.cli import observing  # the full road is heavy, so from here on
    from greenroom.declaration import reading
    from greenroom.project import facade, syncing

    given = call.arguments
    if given.check:
        found = facade.load(call.start, environ=call.environ).outdated(given.names)
        outdated: list[Outdated] = [
            {"component": lock.component, "file": lock.file, "reason": lock.reason} for lock in found
        ]
        checked: Lock = {"written": [], "outdated": outdated, "problems": []}
        return Result("lock", checked, 2 if outdated else 0)
    file = reading.find_declaration(call.start, call.environ)
    with observing.observer(call) as observer:
        written, problems = syncing.lock(
            file,
            call.environ,
            names=given.names,
            observer=observer,
            upgrade=given.upgrade,
            offline=given.offline,
        )
    data: Lock = {"written": list(written), "outdated": [], "problems": problems_of(problems)}
    return Result("lock", data, max((problem.error.status for problem in problems), default=0))


def add_sync(parser: ArgumentParser) -> None:
    """Add the arguments of ``sync``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these components")
    parser.add_argument(
        "--locked", action="store_true", help="write no lock; one that is out of date is an error"
    )
    parser.add_argument("--offline", action="store_true", help="use only what the store and uv's cache hold")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="URL",
        help="fetch packed environments from here, build only what is not there (also GREENROOM_FROM)",
    )
    parser.add_argument("--jobs", metavar="N", type=int, help="build at most N environments at the same time")
    parser.add_argument("--json", action="store_true", help="print events and the result as lines of JSON")
    examples(
        parser,
        "greenroom sync",
        "greenroom sync app.policy.Worker math",
        "greenroom sync --locked --offline      on a node without a network",
        "greenroom sync --from s3://bucket/envs build only what was not pushed there",
        "greenroom sync --json | jq .           one event a line",
    )


def run_sync(call: Call) -> Result:
    """Build what is missing; nothing but stats when nothing is.

    :raises UnknownComponent: a name is not declared.
    :raises InterruptedRunError: Ctrl-C.
    """
    given = call.arguments
    if given.jobs is not None and given.jobs < 1:
        from greenroom.errors import UnknownOption  # only when something is wrong

        message = "--jobs takes a number of at least 1"
        raise UnknownOption(message, command="sync")
    free = _nothing_to_do(call)
    if free is not None:
        return free
    from greenroom.cli import observing  # the full road is heavy, so from here on
    from greenroom.declaration import reading
    from greenroom.project import syncing

    file = reading.find_declaration(call.start, call.environ)
    with observing.observer(call) as observer:
        report = syncing.sync(
            file,
            call.environ,
            names=given.names,
            observer=observer,
            locked=given.locked,
            offline=given.offline,
            at_once=given.jobs,
            source=given.source,
        )
    return Result("sync", _report(report), report.status)


def _nothing_to_do(call: Call) -> Result | None:
    """Return the result when the snapshot says that all is ready; None when only the full road can tell."""
    memory = answering.memory(call.start, call.environ)
    answers = None if memory is None else memory.answers()
    if memory is None or answers is None or not memory.outputs_stand:
        return None
    wanted = set(call.arguments.names)
    if not wanted.issubset(answer.name for answer in answers):
        return None
    mine = [answer for answer in answers if not wanted or answer.name in wanted]
    if any(answer.state not in {"ready", "driver"} for answer in mine):
        return None
    memory.refresh()
    keys = {answer.name: answer.key for answer in mine if answer.key is not None}
    data: Sync = {
        "ready": list(dict.fromkeys(keys.values())),
        "built": [],
        "joined": [],
        "fetched": [],
        "failed": [],
        "problems": [],
        "locked": [],
        "components": keys,
    }
    return Result("sync", data)


def _report(report: SyncReport) -> Sync:
    return {
        "ready": list(report.ready),
        "built": [{"key": key, "seconds": round(seconds, 3)} for key, seconds in report.built],
        "joined": list(report.joined),
        "fetched": [{"key": key, "seconds": round(seconds, 3)} for key, seconds in report.fetched],
        "failed": problems_of(report.failed),
        "problems": problems_of(report.problems),
        "locked": list(report.locked),
        "components": dict(report.components),
    }
