"""``greenroom list``, ``status`` and ``plan``: what there is, in which state, and what sync would do."""

from __future__ import annotations

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result, problems_of
from greenroom.project import answering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable

    from greenroom.cli.contract.answers import Component, Environment, List, Listed, Status
    from greenroom.cli.contract.reports import Plan
    from greenroom.cli.result import Call
    from greenroom.snapshot import Answer

__all__ = ["add_list", "add_plan", "add_status", "run_list", "run_plan", "run_status"]

_FINE = ("ready", "driver")
_NOT_READY = 3


def add_list(parser: ArgumentParser) -> None:
    """Add the arguments of ``list``."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom list", "greenroom list --json")


def run_list(call: Call) -> Result:
    """Answer with all components."""
    known = answering.known(call.start, call.environ)
    components: list[Listed] = [
        {
            "name": answer.name,
            "kind": answer.kind,
            "state": answer.state,
            "key": answer.key,
            "python": answer.python,
            "interpreter": answer.interpreter if answer.state in _FINE else None,
        }
        for answer in known.answers
    ]
    data: List = {"declaration": known.declaration, "components": components}
    return Result("list", data)


def add_status(parser: ArgumentParser) -> None:
    """Add the arguments of ``status``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these components")
    parser.add_argument(
        "--by", choices=("environment", "component"), default="environment", help="what each line stands for"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, by environment and by component")
    examples(
        parser,
        "greenroom status",
        "greenroom status --by component",
        "greenroom status app.policy.Worker && start-it     status 3 when it is not ready",
    )


def run_status(call: Call) -> Result:
    """Answer with the state of environments and components; status 3 when one is not ready.

    :raises UnknownComponent: a name is not declared.
    """
    known = answering.known(call.start, call.environ)
    answers = _chosen(known, call.arguments.names)
    data: Status = {
        "declaration": known.declaration,
        "stores": known.stores,
        "environments": _environments(answers),
        "components": [_component(answer) for answer in answers],
        "notes": known.notes,
    }
    worst = max((answer.status or _NOT_READY for answer in answers if answer.state not in _FINE), default=0)
    return Result("status", data, worst)


def add_plan(parser: ArgumentParser) -> None:
    """Add the arguments of ``plan``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these components")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom plan", "greenroom plan app.policy.Worker --json")


def run_plan(call: Call) -> Result:
    """Answer with what a sync would lock and build; nothing is written.

    :raises UnknownComponent: a name is not declared.
    """
    from greenroom.project import facade

    project = facade.load(call.start, environ=call.environ)
    outdated = project.outdated(call.arguments.names)
    plan = project.plan(call.arguments.names)
    waiting = {lock.component for lock in outdated}
    broken = [problem for problem in plan.problems if not waiting.issuperset(problem.components)]
    data: Plan = {
        "declaration": plan.setting.declaration.file,
        "store": plan.environments[0].store.path if plan.environments else plan.setting.stores[0].path,
        "driver": {"interpreter": plan.setting.launcher, "python": plan.setting.driver.version},
        "lock": [
            {"component": lock.component, "file": lock.file, "reason": lock.reason} for lock in outdated
        ],
        "environments": [
            {
                "key": found.key,
                "components": list(found.components),
                "state": found.state,
                "reason": found.reason,
                "python": found.interpreter.version,
                "distributions": [(made.name, made.version) for made in found.recipe.distributions],
            }
            for found in plan.environments
        ],
        "drivers": list(plan.drivers),
        "problems": problems_of(broken),
        "notes": list(plan.notes),
    }
    return Result("plan", data, max((problem.error.status for problem in broken), default=0))


def _chosen(known: answering.Known, names: Iterable[str]) -> list[Answer]:
    wanted = list(names)
    if not wanted:
        return known.answers
    from greenroom.errors import UnknownComponent

    by_name = {answer.name: answer for answer in known.answers}
    for name in wanted:
        if name not in by_name:
            raise UnknownComponent(name, known=by_name, declaration=known.declaration)
    return [by_name[name] for name in dict.fromkeys(wanted)]


def _component(answer: Answer) -> Component:
    return {
        "name": answer.name,
        "kind": answer.kind,
        "state": answer.state,
        "key": answer.key,
        "problem": answer.problem,
    }


def _environments(answers: Iterable[Answer]) -> list[Environment]:
    found: dict[str, Environment] = {}
    for answer in answers:
        if answer.key is None:
            continue
        environment = found.get(answer.key)
        if environment is None:
            environment = found[answer.key] = {
                "key": answer.key,
                "state": answer.state,
                "reason": answer.problem,
                "path": answer.environment or "",
                "python": answer.python,
                "components": [],
            }
        environment["components"].append(answer.name)
    return list(found.values())
