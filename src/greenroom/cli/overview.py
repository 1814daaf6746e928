"""What ``greenroom`` says when no command is given."""

from __future__ import annotations

from greenroom.cli.grammar import GROUPS
from greenroom.errors import UnknownOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["answer"]

_HEAD = """\
usage: greenroom COMMAND [OPTIONS]

One Python environment per component of a distributed application: declared once,
built once with uv, handed over as a plain interpreter path.
"""
_FOOT = """
greenroom COMMAND --help shows a command's options and examples.
Every command takes --project DIR, --store DIR, --quiet, --verbose and --no-progress;
every question takes --json.

examples:
  greenroom init                          write a first greenroom.toml
  greenroom sync                          build what is missing
  greenroom run app.Worker -- python -m app
  greenroom why app.Worker                what is in it, and what changed

exit statuses:
  0 done   1 a build or check failed   2 wrong use or declaration
  3 not ready   130 interrupted
"""


def answer(words: Sequence[str]) -> str:
    """Return the overview of all commands.

    :param words: the options that were given without a command.
    :raises UnknownOption: they ask for something else than help.
    """
    odd = [word for word in words if word not in {"-h", "--help"}]
    if odd:
        message = f"{odd[0]} needs a command"
        raise UnknownOption(message, command="")
    lines = [_HEAD]
    for group, commands in GROUPS.items():
        lines.append(f"{group}:")
        lines.extend(f"  {name:<12}{summary}" for name, (_, summary) in commands.items())
        lines.append("")
    return "\n".join(lines[:-1]) + "\n" + _FOOT
