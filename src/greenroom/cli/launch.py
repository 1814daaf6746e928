"""``greenroom python`` and ``greenroom run``: hand over an interpreter, or start a command with it."""

from __future__ import annotations

import os

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result
from greenroom.errors import CommandMissing, CommandNotStarted
from greenroom.project import answering, launching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import NoReturn

    from greenroom.cli.contract.answers import Python
    from greenroom.cli.result import Call
    from greenroom.snapshot import Answer

__all__ = ["add_python", "add_run", "run_python", "run_run"]

RECORD = "greenroom.json"
"""As in :mod:`greenroom.store.model`, which is too heavy for a launch."""


def add_python(parser: ArgumentParser) -> None:
    """Add the arguments of ``python``."""
    parser.add_argument("name", metavar="NAME", help="a component's name")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(
        parser,
        "greenroom python app.policy.Worker",
        '"$(greenroom python app.policy.Worker)" -m app     start it by path',
    )


def run_python(call: Call) -> Result:
    """Answer with the path of a component's interpreter.

    :raises NotReadyError: the environment is not ready.
    """
    answer = answering.launchable(call.start, call.environ, call.arguments.name)
    data: Python = {
        "name": answer.name,
        "kind": answer.kind,
        "interpreter": answer.interpreter or "",
        "environment": answer.environment,
        "key": answer.key,
        "python": answer.python,
    }
    return Result("python", data)


def add_run(parser: ArgumentParser) -> None:
    """Add the arguments of ``run``; what follows the name is cut off before."""
    parser.usage = "greenroom run [OPTIONS] NAME [-- COMMAND [ARGUMENT ...]]"
    parser.add_argument("name", metavar="NAME", help="a component's name")
    examples(
        parser,
        "greenroom run app.policy.Worker -- python -m app",
        "greenroom run math -- pytest -x",
        "greenroom run math                                 its declared command, in its directory",
        "greenroom run math -- python -c 'import sys; print(sys.prefix)'",
    )


def run_run(call: Call) -> NoReturn:
    """Replace this process by a command in a component's environment.

    :raises NotReadyError: the environment is not ready.
    :raises CommandMissing: no command is given, and none is declared that can be started like this.
    :raises CommandNotFound: it is not there.
    """
    answer = answering.launchable(call.start, call.environ, call.arguments.name)
    _execute(answer, call.arguments.tail or _declared(answer), call)


def _declared(answer: Answer) -> list[str]:
    """Go to a server's directory and return its command."""
    command: list[str] = answer.launch.get("command", [])
    if not command:
        raise CommandMissing(answer.name)
    from greenroom.servers import placeholders  # only where a server is started like this

    texts = [*command, *(value for _, value in answer.launch["variables"])]
    places = sorted(
        {*placeholders.own(texts), *(f"servers.{name}" for name in placeholders.references(texts))}
    )
    if places:
        raise CommandMissing(answer.name, places=places)
    try:
        os.chdir(answer.launch["directory"])
    except OSError as error:
        raise CommandNotStarted(command[0], f"{answer.launch['directory']}: {error.strerror}") from error
    return command


def _execute(answer: Answer, command: list[str], call: Call) -> NoReturn:
    interpreter = answer.interpreter or ""
    block = launching.block(
        call.environ, environment=answer.environment, interpreter=interpreter, launch=answer.launch
    )
    path = launching.program(command, interpreter, block)
    if answer.environment is not None:
        from greenroom.store import leasing  # only to start something

        leasing.lease(f"{answer.environment}/{RECORD}")
    launching.execute(path, command, block)
