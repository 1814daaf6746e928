"""``greenroom init``, ``schema`` and ``completion``: what one needs once."""

from __future__ import annotations

import os

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.contract.reports import Init
    from greenroom.cli.result import Call

__all__ = ["add_completion", "add_init", "add_schema", "run_completion", "run_init", "run_schema"]


def add_init(parser: ArgumentParser) -> None:
    """Add the arguments of ``init``."""
    parser.add_argument("--dry-run", action="store_true", help="print the declaration, write nothing")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom init", "greenroom init --dry-run", "greenroom init --project path/to/app")


def run_init(call: Call) -> Result:
    """Write a first declaration from what is there, and say what was decided.

    :raises DeclarationExists: there is one already.
    """
    from greenroom.declaration import initial  # heavy, and needed once
    from greenroom.errors import DirectoryVanished

    try:
        directory = os.path.abspath(call.start or call.environ.get("GREENROOM_PROJECT") or ".")
    except OSError as error:
        raise DirectoryVanished from error
    proposal = initial.propose(directory)
    file = os.path.join(directory, "greenroom.toml")
    written = not call.arguments.dry_run
    if written:
        initial.write(proposal, file)
    data: Init = {
        "file": file,
        "written": written,
        "text": proposal.text,
        "decisions": list(proposal.decisions),
    }
    return Result("init", data)


def add_schema(parser: ArgumentParser) -> None:
    """Add the arguments of ``schema``."""
    examples(parser, "greenroom schema > greenroom.schema.json")


def run_schema(call: Call) -> Result:
    """Answer with the JSON schema of the declaration."""
    del call
    from greenroom.declaration import schema  # heavy, and needed once

    return Result("schema", schema.schema())


def add_completion(parser: ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"), help="the shell")
    examples(parser, 'eval "$(greenroom completion bash)"', "greenroom completion fish | source")


def run_completion(call: Call) -> Result:
    """Answer with the shell's code that completes this command."""
    from argcomplete.shell_integration import shellcode  # only for this

    return Result("completion", {"code": shellcode(["greenroom"], shell=call.arguments.shell)})
