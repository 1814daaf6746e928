"""``greenroom image``: environments pre-built in a container image, layer by layer."""

from __future__ import annotations

import os

from greenroom.cli import imagedata
from greenroom.cli.parsing import examples
from greenroom.cli.result import Result, problems_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterable

    from greenroom.cli.result import Call

__all__ = ["add_image", "run_image"]

_NOT_READY = 3
_ACTIONS = ("sync", "plan", "dockerfile", "freeze", "verify", "wrappers", "prune-cache")


def add_image(parser: ArgumentParser) -> None:
    """Add the arguments of ``image``."""
    parser.add_argument(
        "action",
        choices=_ACTIONS,
        help="build a stage; show stages and sizes; write a Dockerfile; write the image's fingerprint, "
        "compare with it; write executables by class name; remove what no environment needs",
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="only these components (wrappers: DIR first)"
    )
    parser.add_argument("--stage", metavar="STAGE", help="sync: deps, a declared stage, or local")
    parser.add_argument("--find-links", metavar="DIR", help="sync: where the wheels of late packages are")
    parser.add_argument(
        "--skip-extra", metavar="EXTRA", action="append", help="leave out who declares this extra; repeatable"
    )
    parser.add_argument("--actors", action="store_true", help="sync: leave out servers")
    parser.add_argument(
        "--offline", action="store_true", help="sync: use only what the store and uv's cache hold"
    )
    parser.add_argument("--jobs", metavar="N", type=int, help="sync: build at most N at the same time")
    parser.add_argument("--sizes", action="store_true", help="plan: measure what each environment adds")
    parser.add_argument("--html", metavar="FILE", help="plan: write a page, too")
    parser.add_argument("--base", metavar="IMAGE", help="dockerfile: the image to start from")
    parser.add_argument("--no-install", action="store_true", help="dockerfile: the base has greenroom and uv")
    parser.add_argument(
        "--output", metavar="DIR", help="dockerfile: write the files there instead of printing"
    )
    parser.add_argument("--deep", action="store_true", help="verify: compare the content of every file")
    parser.add_argument(
        "--on-drift", choices=("error", "warn", "rebuild"), help="verify: instead of the declaration's policy"
    )
    parser.add_argument("--json", action="store_true", help="print events and the result as lines of JSON")
    examples(
        parser,
        "greenroom image plan --html plan.html",
        "greenroom image dockerfile --output .",
        "greenroom image sync --stage deps --skip-extra vllm     in the image's layers",
        "greenroom image sync --stage trtllm --find-links /wheels",
        "greenroom image sync --stage local",
        "greenroom image freeze",
        "greenroom image verify --deep                           at run time",
        "greenroom image wrappers /usr/local/bin",
    )


def run_image(call: Call) -> Result:
    """Do one of the actions.

    :raises UnknownComponent, UnknownExtra, UnknownName: a name is not declared.
    """
    actions: dict[str, Callable[[Call], Result]] = {
        "sync": _sync,
        "plan": _plan,
        "dockerfile": _dockerfile,
        "freeze": _freeze,
        "verify": _verify,
        "wrappers": _wrappers,
        "prune-cache": _prune,
    }
    return actions[call.arguments.action](call)


def _sync(call: Call) -> Result:
    from greenroom.cli import observing  # the full road is heavy, so from here on
    from greenroom.images import syncing

    given = call.arguments
    if given.stage is None:
        raise _wrong("sync needs --stage: deps, a declared stage, or local")
    if given.jobs is not None and given.jobs < 1:
        raise _wrong("--jobs takes a number of at least 1")
    file = _file(call)
    with observing.observer(call) as observer:
        report = syncing.sync(
            file,
            call.environ,
            stage=given.stage,
            names=given.names,
            skip_extras=given.skip_extra or (),
            actors=given.actors,
            find_links=None if given.find_links is None else os.path.abspath(given.find_links),
            observer=observer,
            offline=given.offline,
            at_once=given.jobs,
        )
    data = imagedata.empty("sync")
    data["stage"] = report.stage
    data["environments"] = [imagedata.done(found) for found in report.environments]
    data["skipped"] = dict(report.skipped)
    data["linked"] = report.linked
    data["notes"] = list(report.notes)
    data["problems"] = problems_of((*report.failed, *report.problems))
    return Result("image", data, report.status)


def _plan(call: Call) -> Result:
    from greenroom.images import overview, page  # the full road is heavy, so from here on
    from greenroom.project import facade

    given = call.arguments
    plan = facade.load(call.start, environ=call.environ).plan(_chosen(call))
    found = overview.overview(plan, measured=given.sizes or given.html is not None)
    data = imagedata.empty("plan")
    data["stages"] = list(found.stages)
    data["cache_keys"] = dict(found.cache_keys)
    data["environments"] = [imagedata.row(row) for row in found.rows]
    data["drivers"] = list(found.drivers)
    data["notes"] = list(plan.notes)
    data["problems"] = problems_of(plan.problems)
    if given.html is not None:
        path = os.path.abspath(given.html)
        page.write(found, plan.setting.declaration.file, path)
        data["files"] = {"html": path}
    return Result("image", data, max((problem.error.status for problem in plan.problems), default=0))


def _dockerfile(call: Call) -> Result:
    from greenroom.images import dockerfile  # the full road is heavy, so from here on
    from greenroom.project import planning

    given = call.arguments
    setting = planning.setting(_file(call), call.environ)
    texts = dockerfile.texts(
        setting.declaration,
        call.environ,
        base=given.base,
        python=".".join(setting.driver.version.split(".")[:2]),
        install=not given.no_install,
        skip_extras=given.skip_extra or (),
    )
    if given.output is not None:
        texts = dockerfile.write(texts, os.path.abspath(given.output))
    data = imagedata.empty("dockerfile")
    data["files"] = texts
    return Result("image", data)


def _freeze(call: Call) -> Result:
    from greenroom.images import freezing  # the full road is heavy

    found = freezing.freeze(_file(call), call.environ)
    data = imagedata.empty("freeze")
    data["stages"] = list(found.stages)
    data["environments"] = [imagedata.frozen(each) for each in found.environments]
    data["fingerprint"] = found.fingerprint
    return Result("image", data)


def _verify(call: Call) -> Result:
    from greenroom.images import verifying  # heavy

    given = call.arguments
    file = _file(call)
    found = verifying.verify(file, call.environ, deep=given.deep, policy=given.on_drift)
    data = imagedata.empty("verify")
    data["stages"] = list(found.frozen.stages)
    data["environments"] = [imagedata.frozen(each) for each in found.frozen.environments]
    data["fingerprint"] = found.frozen.fingerprint
    data["policy"] = found.policy
    data["drift"] = [
        {
            "components": list(drift.components),
            "key": drift.key,
            "wanted": drift.wanted,
            "kind": drift.kind,
            "differences": list(drift.differences),
        }
        for drift in found.drift
    ]
    status = _NOT_READY if found.hard and found.policy != "warn" else 0
    if found.policy == "rebuild" and found.stale:
        from greenroom.cli import observing

        with observing.observer(call) as observer:
            report = verifying.rebuild(found, file, call.environ, observer)
        data["rebuilt"] = [key for key, _ in report.built]
        data["problems"] = problems_of((*report.failed, *report.problems))
        status = report.status
    return Result("image", data, status)


def _wrappers(call: Call) -> Result:
    from greenroom.images import wrappers  # the full road is heavy
    from greenroom.project import facade, planning

    if not call.arguments.names:
        raise _wrong("wrappers needs the directory to write to")
    directory, *names = call.arguments.names
    plan = facade.load(call.start, environ=call.environ).plan(names)
    components = planning.chosen(plan.setting.declaration, names)
    data = imagedata.empty("wrappers")
    data["files"] = wrappers.write(plan, os.path.abspath(directory), components)
    return Result("image", data)


def _prune(call: Call) -> Result:
    from greenroom.images import pruning  # heavy
    from greenroom.project import planning
    from greenroom.store import layout

    found = pruning.prune(layout.building(planning.setting(_file(call), call.environ).stores))
    data = imagedata.empty("prune-cache")
    data["removed"], data["freed"] = found.files, found.size
    return Result("image", data)


def _chosen(call: Call) -> Iterable[str]:
    """Return the components that are named, or all but those whose extras are skipped."""
    given = call.arguments
    if not given.skip_extra:
        return list(given.names)
    from greenroom.declaration import reading
    from greenroom.images import stages
    from greenroom.project import planning

    declaration = reading.read(_file(call), call.environ)
    components = planning.chosen(declaration, given.names)
    known = stages.extras_declared(declaration.components)
    out = stages.skipped(components, given.skip_extra, known, declaration.file)
    return [component.name for component in components if component.name not in out]


def _file(call: Call) -> str:
    from greenroom.declaration import reading

    return reading.find_declaration(call.start, call.environ)


def _wrong(message: str) -> Exception:
    from greenroom.errors import UnknownOption  # only when something is wrong

    return UnknownOption(message, command="image")
