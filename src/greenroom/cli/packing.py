"""``greenroom pack``, ``unpack`` and ``push``: environments as files, for nodes that share no disk."""

from __future__ import annotations

import os

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result, problems_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.contract.moves import Pack, Push, Unpack
    from greenroom.cli.result import Call

__all__ = ["add_pack", "add_push", "add_unpack", "run_pack", "run_push", "run_unpack"]


def add_pack(parser: ArgumentParser) -> None:
    """Add the arguments of ``pack``."""
    parser.add_argument("name", metavar="NAME", help="a component's name")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write; default: KEY.tar.zst here; -: standard output",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(
        parser,
        "greenroom pack app.policy.Worker",
        "greenroom pack math -o /mnt/usb/math.tar.zst",
        "greenroom pack math -o - | ssh node greenroom unpack -",
    )


def run_pack(call: Call) -> Result | None:
    """Write a component's environment as one file.

    :raises UnknownComponent: the name is not declared.
    :raises NotReadyError: its environment is not ready.
    """
    from greenroom.errors import NoEnvironment
    from greenroom.project import answering, facade, moving  # the full road is heavy

    name, given = call.arguments.name, call.arguments.output
    answer = answering.launchable(call.start, call.environ, name)
    if answer.environment is None:
        raise NoEnvironment(name, answer.interpreter or "")
    plan = facade.load(call.start, environ=call.environ).plan([name])
    if given == "-":
        moving.pack(plan, name, None)
        return None
    path = os.path.abspath(given or f"{answer.key}.tar.zst")
    packed = moving.pack(plan, name, path)
    data: Pack = {
        "key": packed.key,
        "file": path,
        "files": packed.files,
        "size": packed.size,
        "packed": packed.packed,
        "sources": list(packed.sources),
    }
    return Result("pack", data)


def add_unpack(parser: ArgumentParser) -> None:
    """Add the arguments of ``unpack``."""
    parser.add_argument("file", metavar="FILE", help="what pack wrote; -: standard input")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(
        parser,
        "greenroom unpack cp311-k3j4zq2v7wmaxh5tbn6cdyeo.tar.zst",
        "greenroom unpack --store /opt/greenroom /mnt/usb/math.tar.zst",
    )


def run_unpack(call: Call) -> Result:
    """Bring a packed environment into the store; no declaration is needed.

    :raises ArchiveRefused: it is damaged or names what may not be written; nothing of it is left.
    :raises ArchiveForeign: it is for another machine or interpreter.
    """
    from greenroom.project import moving  # the full road is heavy

    file = call.arguments.file
    got = moving.unpack(call.start, call.environ, None if file == "-" else os.path.abspath(file))
    data: Unpack = {
        "key": got.key,
        "path": got.path,
        "found": got.found,
        "files": got.files,
        "size": got.size,
        "seconds": round(got.seconds, 3),
        "host": got.host,
    }
    return Result("unpack", data)


def add_push(parser: ArgumentParser) -> None:
    """Add the arguments of ``push``."""
    parser.add_argument("url", metavar="URL", help="a directory, http(s)://…, s3://…, gs://…, az://…")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these components' environments")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(
        parser,
        "greenroom push s3://bucket/environments",
        "greenroom push /mnt/archives app.policy.Worker",
        "greenroom sync --from s3://bucket/environments     on the other machines",
    )


def run_push(call: Call) -> Result:
    """Put the archives of environments where others fetch them.

    :raises PlaceRefused: the URL names no place for archives.
    """
    from greenroom.project import facade, moving  # the full road is heavy

    given = call.arguments
    plan = facade.load(call.start, environ=call.environ).plan(given.names)
    done = tuple(moving.push(plan, given.url))
    data: Push = {
        "environments": [
            {
                "key": one.planned.key,
                "components": list(one.planned.components),
                "url": one.url,
                "packed": None if one.packed is None else one.packed.packed,
                "error": None if one.error is None else str(one.error),
            }
            for one in done
        ],
        "problems": problems_of(plan.problems),
    }
    errors = [one.error for one in done if one.error is not None]
    errors += [problem.error for problem in plan.problems]
    return Result("push", data, max((error.status for error in errors), default=0))
