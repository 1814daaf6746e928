"""Look at running servers, and ask their supervisor for something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.cli import fleet
from greenroom.cli.parsing import examples
from greenroom.cli.result import Result
from greenroom.errors import NotRunning, UnknownOption

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable

    from greenroom.cli.result import Call

__all__ = [
    "add_down",
    "add_ps",
    "add_restart",
    "add_stop",
    "add_url",
    "add_wait",
    "run_down",
    "run_ps",
    "run_restart",
    "run_stop",
    "run_url",
    "run_wait",
]

FINAL = frozenset({"stopped", "completed", "failed"})
SETTLED = FINAL | {"ready"}


def _names(parser: ArgumentParser, least: str = "*") -> None:
    parser.add_argument(
        "names", metavar="NAME", nargs=least, help="these servers only, or one of their processes"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_ps(parser: ArgumentParser) -> None:
    """Add the arguments of ``ps``."""
    _names(parser)
    examples(parser, "greenroom ps", "greenroom ps math --json")


def run_ps(call: Call) -> Result:
    """Tell the state of servers; of a supervisor that was killed, what it wrote last."""
    from greenroom.servers import client, statefile

    file, place = fleet.declaration(call), fleet.place(call)
    try:
        state = client.status(place, file)
    except NotRunning:
        state = statefile.read(place) or {"units": []}
        state = {"units": [_lost(unit) for unit in state["units"]], "supervisor": None}
    units = fleet.units_of(state, call.arguments.names, file)
    data = {"declaration": file, "supervisor": state["supervisor"], "units": units}
    return Result("ps", data, 1 if any(unit["state"] in {"failed", "lost"} for unit in units) else 0)


def _lost(unit: dict[str, Any]) -> dict[str, Any]:
    from greenroom.servers import tree

    lives = unit["pid"] is not None and tree.born(unit["pid"]) == unit.pop("born", None) is not None
    lost: dict[str, Any] = {"state": unit["state"] if unit["state"] in FINAL else "lost", "tail": []}
    reason = "its supervisor was killed; the process lives on" if lives else unit["reason"]
    return {**unit, **lost, "pid": unit["pid"] if lives else None, "reason": reason}


def add_stop(parser: ArgumentParser) -> None:
    """Add the arguments of ``stop``."""
    _names(parser, "+")
    examples(parser, "greenroom stop math")


def run_stop(call: Call) -> Result:
    """Stop servers and wait for the end of their last process.

    :raises NotRunning: no supervisor runs them.
    """
    units = _asked(call, "stop", FINAL)
    return _result("stop", call, units, 1 if any(unit["forced"] for unit in units) else 0)


def add_restart(parser: ArgumentParser) -> None:
    """Add the arguments of ``restart``."""
    _names(parser, "+")
    examples(
        parser,
        "greenroom restart math          as it was started",
        "greenroom up math               as it is declared",
    )


def run_restart(call: Call) -> Result:
    """Stop servers, start them again, and wait until they are ready.

    :raises NotRunning: no supervisor runs them.
    """
    units = _asked(call, "restart", SETTLED)
    return _result("restart", call, units, 1 if any(unit["state"] == "failed" for unit in units) else 0)


def add_down(parser: ArgumentParser) -> None:
    """Add the arguments of ``down``."""
    parser.add_argument("--kill", action="store_true", help="do not ask them to stop: kill them")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom down")


def run_down(call: Call) -> Result:
    """End all servers and their supervisor; also those that outlived one which was killed."""
    from greenroom.servers import client, statefile, survivors

    place = fleet.place(call)
    connection = client.connect(place)
    if connection is None:
        units = survivors.end(statefile.orphans(place))
        return _result("down", call, units, 0)
    last: dict[str, dict[str, Any]] = {}
    with connection, client.connect(place) or connection as other:
        for number, line in enumerate(connection.events()):
            last |= {unit["name"]: unit for unit in _units(line)}
            if number == 0:
                other.ask("down", kill=call.arguments.kill)
    forced = any(unit["forced"] for unit in last.values()) and not call.arguments.kill
    return _result("down", call, list(last.values()), 1 if forced else 0)


def add_wait(parser: ArgumentParser) -> None:
    """Add the arguments of ``wait``."""
    _names(parser)
    parser.add_argument(
        "--for", dest="goal", choices=("ready", "ended"), default="ready", help="what to wait for"
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="give up then, with status 3")
    examples(parser, "greenroom wait math --timeout 60", "greenroom wait --for ended")


def run_wait(call: Call) -> Result:
    """Wait until servers are ready or have ended.

    :raises NotRunning: no supervisor runs them.
    """
    given = call.arguments
    goal = SETTLED if given.goal == "ready" else FINAL
    with fleet.connected(call) as connection:
        state = connection.ask("status")
        names = [unit["name"] for unit in fleet.units_of(state, given.names, fleet.declaration(call))]
        last: dict[str, dict[str, Any]] = {}
        status = 0
        try:
            for unit in connection.settle(names, lambda unit: unit["state"] in goal, given.timeout):
                last[unit["name"]] = unit
        except TimeoutError:
            status = NotRunning.status
    if any(unit["state"] in FINAL - {"completed"} for unit in last.values()) and given.goal == "ready":
        status = 1
    return _result("wait", call, list(last.values()), status)


def add_url(parser: ArgumentParser) -> None:
    """Add the arguments of ``url``."""
    parser.add_argument("name", metavar="NAME", help="a server's name, or one of its processes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom url math", 'curl "$(greenroom url math)/health"')


def run_url(call: Call) -> Result:
    """Tell where a running server is reached.

    :raises NotRunning: it does not run.
    """
    with fleet.connected(call) as connection:
        state = connection.ask("status")
    unit = fleet.units_of(state, [call.arguments.name], fleet.declaration(call))[0]
    if unit["url"] is None:
        message = f"server {unit['name']!r} has no port: its command does not name {{port}}"
        raise UnknownOption(message, command="url")
    host = str(unit["url"]).removeprefix("http://").rpartition(":")[0]
    return Result("url", {"name": unit["name"], "url": unit["url"], "host": host, "port": unit["port"]})


def _asked(call: Call, what: str, goal: frozenset[str]) -> list[dict[str, Any]]:
    """Ask for something and wait until it is so."""
    with fleet.connected(call) as asking, fleet.connected(call) as hearing:
        units = fleet.units_of(asking.ask("status"), call.arguments.names, fleet.declaration(call))
        names = [unit["name"] for unit in units]
        asking.ask(what, names=names)
        last = {unit["name"]: unit for unit in hearing.settle(names, lambda unit: unit["state"] in goal)}
    return list(last.values())


def _units(line: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return [line["unit"]] if "unit" in line else [unit for unit in line["units"] if not isinstance(unit, str)]


def _result(command: str, call: Call, units: list[dict[str, Any]], status: int) -> Result:
    return Result(
        command, {"declaration": fleet.declaration(call), "supervisor": None, "units": units}, status
    )
