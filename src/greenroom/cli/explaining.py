"""``greenroom why``, ``diff`` and ``log``: what is in an environment, and how it came to be."""

from __future__ import annotations

import os

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from greenroom.cli.contract.answers import Diff, Log, Why
    from greenroom.cli.result import Call
    from greenroom.project.explaining import Explanation

__all__ = ["add_diff", "add_log", "add_why", "run_diff", "run_log", "run_why"]

_DIFFERENT = 1


def add_why(parser: ArgumentParser) -> None:
    """Add the arguments of ``why``."""
    parser.add_argument("name", metavar="NAME", help="a component's name")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom why app.policy.Worker", "greenroom why math --verbose     with every digest")


def run_why(call: Call) -> Result:
    """Explain the environment of one component.

    :raises UnknownComponent: the declaration has no such name.
    :raises NoEnvironment: it runs on the driver's interpreter.
    """
    from greenroom.project import facade  # the full road is heavy

    project = facade.load(call.start, environ=call.environ)
    return Result("why", _explained(project.why(call.arguments.name)))


def add_diff(parser: ArgumentParser) -> None:
    """Add the arguments of ``diff``."""
    parser.add_argument("a", metavar="A", help="a component's name")
    parser.add_argument("b", metavar="B", help="another one's")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom diff app.policy.Worker app.rollout.Collector")


def run_diff(call: Call) -> Result:
    """Compare the environments of two components; status 1 when they differ.

    :raises UnknownComponent: the declaration has no such name.
    :raises NoEnvironment: one runs on the driver's interpreter.
    """
    from greenroom.project import explaining, facade  # the full road is heavy

    names = (call.arguments.a, call.arguments.b)
    plan = facade.load(call.start, environ=call.environ).plan(names)
    a, b = (explaining.planned(plan, name) for name in names)
    differences = explaining.compare(a, b)
    data: Diff = {
        "a": {"name": names[0], "key": a.key},
        "b": {"name": names[1], "key": b.key},
        "same": a.key == b.key,
        "differences": list(differences),
    }
    return Result("diff", data, 0 if a.key == b.key else _DIFFERENT)


def add_log(parser: ArgumentParser) -> None:
    """Add the arguments of ``log``."""
    parser.add_argument("name", metavar="NAME", help="a component's name")
    parser.add_argument("--path", action="store_true", help="print the log's path instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom log app.policy.Worker", 'less "$(greenroom log math --path)"')


def run_log(call: Call) -> Result:
    """Print the log of a component's last build.

    :raises UnknownComponent: the declaration has no such name.
    :raises NoEnvironment: it runs on the driver's interpreter.
    :raises LogMissing: none is kept.
    :raises LogUnreadable: it is private to whoever built.
    """
    from greenroom.project import explaining, facade  # the full road is heavy

    name = call.arguments.name
    plan = facade.load(call.start, environ=call.environ).plan([name])
    path = explaining.last_log(plan, name)
    text = None
    if not call.arguments.path:
        text = explaining.log_text(path)
    data: Log = {"name": name, "path": os.path.abspath(path), "text": text}
    return Result("log", data)


def _explained(found: Explanation) -> Why:
    return {
        "name": found.name,
        "key": found.key,
        "state": found.state,
        "reason": found.reason,
        "declared": found.origin,
        "source": found.source,
        "python": found.python,
        "interpreter": found.interpreter,
        "request": found.request,
        "distributions": [
            {"name": made.name, "version": made.version, "kind": made.kind, "decides": made.decides}
            for made in found.contents
        ],
        "variables": dict(found.variables),
        "options": list(found.options),
        "shared_with": list(found.shared_with),
        "before": found.before,
        "changes": None if found.changes is None else list(found.changes),
    }
