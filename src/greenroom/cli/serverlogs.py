"""``greenroom logs``: what servers wrote, and write."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from greenroom.cli import fleet
from greenroom.cli.parsing import examples
from greenroom.errors import NotRunning, UnknownOption

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.loglines import Painter
    from greenroom.cli.result import Call

__all__ = ["add_logs", "run_logs"]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def add_logs(parser: ArgumentParser) -> None:
    """Add the arguments of ``logs``."""
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="these servers only, or one of their processes"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    parser.add_argument(
        "--since", metavar="TIME", help="a duration like 10m or 1.5h, or a time like 2026-01-31T12:00:00"
    )
    parser.add_argument("-n", "--lines", metavar="N", type=int, help="the last N lines only")
    parser.add_argument("-t", "--times", action="store_true", help="show when each line came (UTC)")
    parser.add_argument("--plain", action="store_true", help="leave the names out")
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    examples(parser, "greenroom logs", "greenroom logs math -f --since 10m", "greenroom logs -n 100 -t")


def run_logs(call: Call) -> None:
    """Print the lines of servers' logs, interleaved by time.

    :raises NotRunning: nothing was ever run, or not this server.
    """
    from greenroom.cli.loglines import Painter
    from greenroom.servers import client, logreading, statefile

    given, file, place = call.arguments, fleet.declaration(call), fleet.place(call)
    since = _since(given.since)
    painter = Painter(call, fleet.hider(call), plain=given.plain, stamp=given.times)
    connection = client.connect(place)
    state = statefile.read(place) if connection is None else connection.ask("status")
    if state is None:
        raise NotRunning(file)
    units = fleet.units_of(state, given.names, file)
    lines = logreading.interleaved([(unit["name"], unit["log"]) for unit in units], since)
    if connection is None or not given.follow:
        painter.show(logreading.last(lines, given.lines))
        return
    with connection:
        names = {name for unit in units for name in (unit["name"], unit["server"])}
        _follow(connection, painter, units, names, since, given.lines)


def _follow(
    connection: Any,
    painter: Painter,
    units: list[dict[str, Any]],
    names: set[str],
    since: int,
    number: int | None,
) -> None:
    import heapq

    from greenroom.servers import logreading

    followers = {unit["name"]: logreading.Follower(unit["name"], unit["log"], since) for unit in units}
    first = heapq.merge(*(follower.read() for follower in followers.values()), key=lambda line: line.time)
    painter.show(logreading.last(first, number))
    for line in connection.events():
        for unit in [line["unit"]] if "unit" in line else line["units"]:
            name = unit if isinstance(unit, str) else unit["name"]
            if not isinstance(unit, str) and name not in followers and {name, unit["server"]} & names:
                followers[name] = logreading.Follower(name, unit["log"], since)
            if name in followers:
                painter.show(followers[name].read())
    for follower in followers.values():
        painter.show(follower.finish())


def _since(text: str | None) -> int:
    """Return a time as nanoseconds since the epoch; 0: everything.

    :raises UnknownOption: it is none.
    """
    if text is None:
        return 0
    match = _DURATION.fullmatch(text)
    if match is not None:
        return time.time_ns() - int(float(match[1]) * _SECONDS[match[2]] * 1e9)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1e9)
    except ValueError as error:
        message = f"--since takes a duration like 10m or a time, not {text!r}"
        raise UnknownOption(message, command="logs") from error
