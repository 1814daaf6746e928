"""Read the command line, run one command, show its result: the only handler of errors."""

from __future__ import annotations

import os
import sys

from greenroom.errors import GreenroomError, Problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from greenroom.cli.result import Call, Result

__all__ = ["main"]

_INTERRUPTED = 130
_PIPE_CLOSED = 141
"""128 + SIGPIPE: whoever read our output stopped reading, as in ``greenroom list | head -1``."""


def main(words: Sequence[str]) -> int:
    """Run the command that ``words`` name and show what comes of it.

    :param words: the command line without the program's name.
    :returns: the exit status.
    """
    call: Call | None = None
    try:
        call = _parse(words)
        if call is None:
            return 0
        result = _run(call)
        if result is not None:
            _show(result, call)
        status = 0 if result is None else result.status
        sys.stdout.flush()
    except GreenroomError as error:
        status = _report(error, call, words)
    except KeyboardInterrupt:
        _say("interrupted")
        status = _INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more at exit, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = _PIPE_CLOSED
    return status


def _parse(words: Sequence[str]) -> Call | None:
    from greenroom.cli import grammar
    from greenroom.cli.result import Call

    if "_ARGCOMPLETE" in os.environ:
        from greenroom.cli.parsing import complete

        complete()
    command, rest = grammar.split(words)
    if command is None:
        from greenroom.cli.overview import answer

        sys.stdout.write(answer(rest))
        return None
    given, tail = _tail(command, rest)
    arguments = grammar.parser(command).parse_intermixed_args(given)
    arguments.tail = tail
    environ = dict(os.environ)
    if arguments.store:
        environ["GREENROOM_STORE"] = os.path.abspath(arguments.store)
    return Call(command, arguments, environ)


def _tail(command: str, words: list[str]) -> tuple[list[str], list[str]]:
    """Cut off the command line that ``run`` or ``exec`` is to start: all behind the component's name."""
    if command not in {"run", "exec"}:
        return words, []
    from greenroom.cli.grammar import first_word

    position = first_word(words)
    if position is None:
        return words, []
    tail = words[position + 1 :]
    return words[: position + 1], tail[1:] if tail[:1] == ["--"] else tail


def _run(call: Call) -> Result | None:
    from greenroom.cli import grammar

    return grammar.runner(call.command)(call)


def _show(result: Result, call: Call) -> None:
    from greenroom.cli import rendering

    rendering.show(result, call)


def _report(error: GreenroomError, call: Call | None, words: Sequence[str]) -> int:
    if call.json if call is not None else "--json" in words:
        from greenroom.cli import rendering

        rendering.show_error(error, call.command if call else None)
    for line in error.lines() if isinstance(error, Problems) else (str(error),):
        _say(line)
    return error.status


def _say(line: str) -> None:
    from greenroom.cli import terminal

    terminal.complain(line)
