"""The argument parsers: argparse with errors of our kind."""

from __future__ import annotations

import os
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from greenroom.errors import UnknownOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from typing import NoReturn

__all__ = ["Parser", "command_parser", "complete", "examples", "whole_parser"]


class _Formatter(RawDescriptionHelpFormatter):
    """Help as wide as the terminal, found without shutil: argparse makes one for each option."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ["COLUMNS"])
        except (KeyError, ValueError):
            width = 0
        try:
            width = width or os.get_terminal_size(1).columns
        except OSError:
            width = 80
        super().__init__(prog, width=max(width - 2, 40))


class Parser(ArgumentParser):
    """An argument parser whose complaints are errors like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line.

        :raises UnknownOption: always.
        """
        raise UnknownOption(message, command=self.prog.partition(" ")[2])


def command_parser(command: str, summary: str) -> Parser:
    """Return a parser with the options that all commands have."""
    made = Parser(
        prog=f"greenroom {command}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    _common(made)
    return made


def examples(parser: ArgumentParser, *lines: str) -> None:
    """Show command lines with a word on each below a parser's help."""
    parser.epilog = "\n".join(["examples:", *(f"  {line}" for line in lines)])


def whole_parser() -> Parser:
    """Return the parser of all commands: for completion, which wants to know everything."""
    from greenroom.cli import grammar

    made = Parser(prog="greenroom", allow_abbrev=False, formatter_class=_Formatter)
    made.add_argument("-V", "--version", action="store_true", help="print greenroom's version")
    _common(made)
    commands: _SubParsersAction[Parser] = made.add_subparsers(dest="command")
    for command, (_, summary) in grammar.COMMANDS.items():
        added = commands.add_parser(command, help=summary)
        _common(added)
        getattr(grammar.module(command), f"add_{command}")(added)
        for action in added._actions:  # noqa: SLF001 - argcomplete's own way to say what completes
            if action.dest in {"name", "names", "a", "b"}:
                action.completer = _names  # type: ignore[attr-defined]
    return made


def complete() -> None:
    """Answer the shell that asks for completion: argcomplete ends the process."""
    from argcomplete import autocomplete

    autocomplete(whole_parser())


def _names(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return the components' names, for completion: what cannot be read completes nothing."""
    from greenroom.declaration import reading
    from greenroom.errors import GreenroomError

    try:
        file = reading.find_declaration(getattr(parsed_args, "project", None), os.environ)
        return [component.name for component in reading.read(file, os.environ).components]
    except GreenroomError:
        return []


def _common(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--project", metavar="DIR", help="look for the declaration here and above (also GREENROOM_PROJECT)"
    )
    group.add_argument("--store", metavar="DIR", help="use this store (also GREENROOM_STORE)")
    group.add_argument("-q", "--quiet", action="store_true", help="print errors and the answer, no more")
    group.add_argument("-v", "--verbose", action="store_true", help="print more")
    group.add_argument("--no-progress", action="store_true", help="no live display, plain lines instead")
