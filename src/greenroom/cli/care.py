"""``greenroom verify``, ``edit`` and ``gc``: look after what is built."""

from __future__ import annotations

import os

from greenroom.cli.parsing import examples
from greenroom.cli.result import Result, problems_of
from greenroom.errors import UnknownOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable

    from greenroom.builder.work import Result as Built
    from greenroom.cli.contract.upkeep import Collection, Edit, Gc, Verify
    from greenroom.cli.contract.upkeep import Verified as Said
    from greenroom.cli.result import Call
    from greenroom.project.upkeep import Verified

__all__ = ["add_edit", "add_gc", "add_verify", "run_edit", "run_gc", "run_verify"]

_FAILED, _NOT_READY = 1, 3
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def add_verify(parser: ArgumentParser) -> None:
    """Add the arguments of ``verify``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these components' environments")
    parser.add_argument("--deep", action="store_true", help="compare the content of every file")
    parser.add_argument("--smoke", action="store_true", help="run the declared smoke statements")
    parser.add_argument("--repair", action="store_true", help="build anew what is not as it was proven")
    parser.add_argument("--force", action="store_true", help="repair also what something runs from")
    parser.add_argument("--offline", action="store_true", help="repair from the store and uv's cache only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom verify", "greenroom verify --deep --repair", "greenroom verify math --smoke")


def run_verify(call: Call) -> Result:
    """Answer with what is not as it was proven; status 1 when something is not, 3 when one is missing.

    :raises UnknownComponent: a name is not declared.
    """
    from greenroom.cli import observing  # the full road is heavy, so from here on
    from greenroom.project import facade, upkeep

    given = call.arguments
    plan = facade.load(call.start, environ=call.environ).plan(given.names)
    found = upkeep.examine(plan, call.environ, deep=given.deep, smoke=given.smoke)
    results: dict[str, Built] = {}
    if given.repair and any(one.changed for one in found):
        with observing.observer(call) as observer:
            repaired = upkeep.repair(
                found, call.environ, observer=observer, force=given.force, offline=given.offline
            )
        results = {result.key: result for result in repaired}
    data: Verify = {
        "environments": [_verified(one, results.get(one.planned.key)) for one in found],
        "problems": problems_of(plan.problems),
    }
    return Result("verify", data, _status(data["environments"], [p.error.status for p in plan.problems]))


def add_edit(parser: ArgumentParser) -> None:
    """Add the arguments of ``edit``."""
    parser.add_argument("name", metavar="NAME", help="a component's name")
    parser.add_argument("directory", metavar="DIR", nargs="?", help="where to; default: NAME.edit here")
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom edit app.policy.Worker", "greenroom edit math /tmp/math-debug")


def run_edit(call: Call) -> Result:
    """Copy a component's environment to a writable place.

    :raises NotReadyError: the environment is not ready.
    :raises CopyRefused: the directory cannot take it.
    """
    from greenroom.project import answering, facade, upkeep  # the full road is heavy

    name = call.arguments.name
    answer = answering.launchable(call.start, call.environ, name)
    if answer.environment is None:
        from greenroom.errors import NoEnvironment

        raise NoEnvironment(name, answer.interpreter or "")
    directory = os.path.abspath(call.arguments.directory or f"{name.replace('/', '-')}.edit")
    plan = facade.load(call.start, environ=call.environ).plan([name])
    path = upkeep.edit(plan, name, directory)
    data: Edit = {"name": name, "path": path, "interpreter": f"{path}/bin/python"}
    return Result("edit", data)


def add_gc(parser: ArgumentParser) -> None:
    """Add the arguments of ``gc``."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be removed, remove nothing")
    parser.add_argument("--keep-days", metavar="N", type=float, help="keep what was used in the last N days")
    parser.add_argument(
        "--max-size", metavar="SIZE", help="stop when the store is not larger than this: 200G, 1.5T, bytes"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    examples(parser, "greenroom gc --dry-run", "greenroom gc --keep-days 30", "greenroom gc --max-size 200G")


def run_gc(call: Call) -> Result:
    """Remove what nothing uses.

    :raises NoStoreWritable: no store can be written.
    """
    from greenroom.project import upkeep  # the full road is heavy

    given = call.arguments
    done = upkeep.collect(
        call.start,
        call.environ,
        keep_days=given.keep_days,
        max_size=None if given.max_size is None else _size(given.max_size),
        dry_run=given.dry_run,
    )
    stores: list[Collection] = [
        {
            "path": store.path,
            "removed": [
                {"kind": item.kind, "name": item.name, "reason": item.reason} for item in result.items
            ],
            "kept": [{"key": kept.key, "reason": kept.reason} for kept in result.kept],
            "freed": result.freed,
            "busy": getattr(result, "busy", False),
        }
        for store, result in done
    ]
    data: Gc = {"dry_run": given.dry_run, "stores": stores}
    return Result("gc", data)


def _size(text: str) -> int:
    """Return a number of bytes: ``200G``, ``1.5TB``, ``500000``.

    :raises UnknownOption: it is none.
    """
    number = text.strip().upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        found = int(float(number.removesuffix(unit)) * _UNITS[unit])
    except (ValueError, OverflowError):  # the latter of an infinite one
        found = -1
    if found < 0:
        raise UnknownOption(f"--max-size takes a size like 200G, not {text!r}", command="gc")
    return found


def _verified(one: Verified, result: Built | None) -> Said:
    return {
        "key": one.planned.key,
        "components": list(one.planned.components),
        "state": one.planned.state,
        "path": one.planned.store.environment(one.planned.key),
        "findings": [
            {
                "kind": finding.kind,
                "distribution": finding.distribution,
                "path": finding.path,
                "message": finding.message,
            }
            for finding in one.findings
        ],
        "statements": one.statements,
        "repaired": None if result is None else result.ok,
        "error": None if result is None or result.error is None else str(result.error),
    }


def _status(environments: list[Said], problems: Iterable[int]) -> int:
    worst = max(problems, default=0)
    for found in environments:
        smoke = any(each["kind"] == "smoke" for each in found["findings"])  # no repair mends that
        if found["findings"] and (smoke or not found["repaired"]):
            return max(worst, _FAILED)
        if found["state"] == "missing":
            worst = max(worst, _NOT_READY)
    return worst
