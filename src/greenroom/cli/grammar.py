"""Which commands there are, and how a command line is read: one parser for the one command asked for."""

from __future__ import annotations

from importlib import import_module

from greenroom.errors import UnknownOption, use_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from greenroom.cli.result import Call, Result

__all__ = ["first_word", "module", "parser", "runner", "split"]

GROUPS = {
    "Declare": {
        "init": ("begin", "write a first declaration from what is there"),
        "lock": ("building", "write the locks of sources that have none of their own"),
        "schema": ("begin", "print the JSON schema of the declaration, for editors"),
    },
    "Build": {
        "check": ("check", "find what would fail later, before anything is built"),
        "plan": ("listing", "show what sync would do"),
        "sync": ("building", "build every environment that is missing"),
    },
    "Look": {
        "list": ("listing", "list the components"),
        "status": ("listing", "tell what is ready, missing, stale or damaged"),
        "why": ("explaining", "tell what decides an environment, and what changed it"),
        "diff": ("explaining", "compare the environments of two components"),
        "log": ("explaining", "print the log of a component's last build"),
    },
    "Use": {
        "python": ("launch", "print the path of a component's interpreter"),
        "run": ("launch", "run a command in a component's environment"),
        "edit": ("care", "copy an environment to a writable place, for debugging"),
    },
    "Image": {
        "image": ("image", "pre-build environments in a container image, layer by layer"),
    },
    "Cluster": {
        "ray": ("ray", "prepare, look at and check the nodes of a Ray cluster"),
    },
    "Servers": {
        "up": ("up", "start servers, each in its own environment"),
        "ps": ("servers", "tell which servers run, and how they are"),
        "logs": ("serverlogs", "print what servers wrote"),
        "restart": ("servers", "stop servers and start them again"),
        "stop": ("servers", "stop servers"),
        "down": ("servers", "stop all servers and their supervisor"),
        "wait": ("servers", "wait until servers are ready, or have ended"),
        "url": ("servers", "print where a server is reached"),
        "exec": ("inside", "run a command as a server would be run"),
        "config": ("inside", "tell how servers would be run"),
    },
    "Move": {
        "pack": ("packing", "write an environment as one file"),
        "unpack": ("packing", "bring a packed environment into the store"),
        "push": ("packing", "put packed environments where others fetch them"),
    },
    "Keep": {
        "verify": ("care", "prove again what is built; repair it"),
        "gc": ("care", "remove what nothing uses"),
        "completion": ("begin", "print the shell's completion"),
    },
}
"""Group -> command -> its module in this folder, and what it does."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}

_WITH_VALUE = ("--project", "--store")


def split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the command and the words for its parser; options before the command move behind it.

    :returns: None as the command when there is none.
    :raises UnknownOption: no command has this name.
    """
    position = first_word(words)
    if position is None:
        return None, list(words)
    command = words[position]
    if command not in COMMANDS:
        what = f"there is no command {command!r}, {use_one_of(command, COMMANDS)}"
        raise UnknownOption(what, command="")
    return command, [*words[:position], *words[position + 1 :]]


def first_word(words: Sequence[str]) -> int | None:
    """Return the position of the first word that is neither an option nor an option's value."""
    position = 0
    while position < len(words):
        word = words[position]
        if not word.startswith("-"):
            return position
        position += 2 if word in _WITH_VALUE else 1
    return None


def module(command: str) -> ModuleType:
    """Import the module that holds a command."""
    return import_module(f"greenroom.cli.{COMMANDS[command][0]}")


def runner(command: str) -> Callable[[Call], Result]:
    """Return the function that runs a command: ``run_<command>`` of its module."""
    found: Callable[[Call], Result] = getattr(module(command), f"run_{command}")
    return found


def parser(command: str) -> ArgumentParser:
    """Return the parser of one command, with the options that all have."""
    from greenroom.cli.parsing import command_parser

    made = command_parser(command, COMMANDS[command][1])
    getattr(module(command), f"add_{command}")(made)
    return made
