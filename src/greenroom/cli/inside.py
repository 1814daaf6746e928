"""``greenroom exec`` and ``greenroom config``: a server as it would be run, and a command in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from greenroom.cli import fleet
from greenroom.cli.parsing import examples
from greenroom.cli.result import Result
from greenroom.errors import CommandMissing
from greenroom.project import answering, launching, services

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.contract.servers import Declared
    from greenroom.cli.result import Call
    from greenroom.snapshot import Answer

__all__ = ["add_config", "add_exec", "run_config", "run_exec"]


def add_exec(parser: ArgumentParser) -> None:
    """Add the arguments of ``exec``; what follows the name is cut off before."""
    parser.usage = "greenroom exec [OPTIONS] NAME -- COMMAND [ARGUMENT ...]"
    parser.add_argument("name", metavar="NAME", help="a server's name")
    examples(parser, "greenroom exec math -- python -i", "greenroom exec math -- env")


def run_exec(call: Call) -> NoReturn:
    """Replace this process by a command in a server's environment, variables and directory.

    :raises CommandMissing: no command is given.
    :raises UnknownServer: the declaration has no such server.
    :raises NotReadyError: its environment is not ready.
    """
    import os

    from greenroom.servers import client, inside, specs
    from greenroom.store import leasing

    command, name = call.arguments.tail, call.arguments.name
    if not command:
        raise CommandMissing(name)
    file = fleet.declaration(call)
    specs.choose(answering.known(call.start, call.environ).answers, [name], [], file)
    answer = answering.launchable(call.start, call.environ, name)
    spec = specs.one(answer, call.environ)
    connection = client.connect(fleet.place(call))
    units = [] if connection is None else connection.ask("status")["units"]
    block = inside.block(spec, units, call.environ)
    path = launching.program(command, spec.interpreter, block)
    if spec.environment is not None:
        leasing.lease(os.path.join(spec.environment, "greenroom.json"))
    os.chdir(spec.directory)
    launching.execute(path, command, block)


def add_config(parser: ArgumentParser) -> None:
    """Add the arguments of ``config``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these servers and what they need")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="servers with this tag")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom config", "greenroom config math --json")


def run_config(call: Call) -> Result:
    """Tell how servers would be run; values of variables are left out.

    :raises UnknownServer: a name or tag is none's.
    """
    from greenroom.servers import specs

    file = fleet.declaration(call)
    known = answering.known(call.start, call.environ).answers
    chosen = specs.choose(known, call.arguments.names, call.arguments.tag, file)
    return Result("config", {"declaration": file, "servers": [_declared(answer) for answer in chosen]})


def _declared(answer: Answer) -> Declared:
    service = services.service(answer.launch["service"])
    ready = service.ready
    return {
        "name": answer.name,
        "directory": answer.launch["directory"],
        "command": list(answer.launch["command"]),
        "variables": [name for name, _ in answer.launch["variables"]],
        "host": service.host,
        "port": service.port,
        "socket": service.socket,
        "ready": "" if ready is None else f"{ready.kind} {ready.target or ' '.join(ready.command)}",
        "needs": dict(service.needs),
        "restart": service.restart.policy,
        "replicas": service.replicas,
        "tags": list(service.tags),
        "key": answer.key,
        "interpreter": answer.interpreter,
    }
