"""``greenroom python`` and ``greenroom run``: hand over an interpreter, or start a command with it."""

from __future__ import annotations

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result
from greenroom.errors import CommandMissing
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
    parser.usage = "greenroom run [OPTIONS] NAME -- COMMAND [ARGUMENT ...]"
    parser.add_argument("name", metavar="NAME", help="a component's name")
    examples(
        parser,
        "greenroom run app.policy.Worker -- python -m app",
        "greenroom run math -- pytest -x",
        "greenroom run math -- python -c 'import sys; print(sys.prefix)'",
    )


def run_run(call: Call) -> NoReturn:
    """Replace this process by a command in a component's environment.

    :raises NotReadyError: the environment is not ready.
    :raises CommandMissing: no command is given.
    :raises CommandNotFound: it is not there.
    """
    command = call.arguments.tail
    if not command:
        raise CommandMissing(call.arguments.name)
    answer = answering.launchable(call.start, call.environ, call.arguments.name)
    _execute(answer, command, call)


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
