"""Make environments ready on every node of a cluster, and say of each node what came of it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from greenroom.errors import NodesNotReady, Problems, ProvisionFailed, UnknownActor
from greenroom.ray import asking, clusters, naming
from greenroom.ray.model import Preparation, Said, Wanted

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from greenroom.project.facade import Project
    from greenroom.project.model import Plan

__all__ = ["asked", "declared", "planned", "prepare", "survey", "try_prepare"]


def prepare(
    actors: Iterable[Any] | None = None,
    nodes: Iterable[str] | None = None,
    *,
    project: str | os.PathLike[str] | None = None,
    on_event: Callable[[Said], None] | None = None,
    allow_mismatch: bool = False,
) -> Preparation:
    """Make actors' environments ready on every node that is alive, also on nodes without CPUs.

    It runs on each node's own interpreter, beside Ray, where greenroom of the same version must be
    installed; whatever the job's runtime environment is. What is there already is proven again (every
    file, a start of the interpreter) and repaired; nodes that join meanwhile are covered too.

    :param actors: names or classes; None: all that are declared.
    :param nodes: only these, by id or address.
    :param project: where the declaration is; None: ``GREENROOM_PROJECT``, else the working directory.
    :param on_event: called on this thread with what nodes say meanwhile.
    :param allow_mismatch: take another patch release of Python, and another Ray, than a node's.
    :returns: one report for each node; only when all of them have everything ready.
    :raises NodesNotReady: some node has not; the report is its ``report``.
    :raises RayNotRunning: this process is not connected.
    :raises Problems: what is to be made cannot be told.
    """
    report = try_prepare(actors, nodes, project=project, on_event=on_event, allow_mismatch=allow_mismatch)
    if not report.ok:
        error = NodesNotReady(report.failures or ("no node is alive",), nodes=len(report.nodes))
        error.report = report
        raise error
    return report


def try_prepare(
    actors: Iterable[Any] | None = None,
    nodes: Iterable[str] | None = None,
    *,
    project: str | os.PathLike[str] | None = None,
    on_event: Callable[[Said], None] | None = None,
    allow_mismatch: bool = False,
) -> Preparation:
    """Do what :func:`prepare` does, and report failures instead of raising them."""
    began = time.monotonic()
    chosen = None if nodes is None else tuple(nodes)
    alive = clusters.nodes(chosen)
    wanted = _wants(actors, project)
    observer = on_event or _ignore
    if clusters.needs_own_driver():
        return _elsewhere(wanted, tuple(alive), observer, allow_mismatch=allow_mismatch)
    reports = list(asking.ask(alive, wanted, observer, allow_mismatch=allow_mismatch))
    while chosen is None:
        joined = {node: at for node, at in clusters.nodes().items() if node not in alive}
        if not joined:
            break
        alive |= joined
        reports += asking.ask(joined, wanted, observer, allow_mismatch=allow_mismatch)
    return Preparation(wanted=wanted, nodes=tuple(reports), seconds=round(time.monotonic() - began, 3))


def survey(
    actors: Iterable[Any] | None = None,
    nodes: Iterable[str] | None = None,
    *,
    project: str | os.PathLike[str] | None = None,
) -> Preparation:
    """Look at every node and make nothing: the environments' states, versions, the plugin.

    :raises RayNotRunning: this process is not connected.
    :raises Problems: what is to be looked for cannot be told.
    """
    return asked(_wants(actors, project), nodes)


def asked(
    wanted: Sequence[Wanted], nodes: Iterable[str] | None = None, *, allow_mismatch: bool = False
) -> Preparation:
    """Look at every node for some environments.

    :raises RayNotRunning: this process is not connected.
    """
    began = time.monotonic()
    reports = asking.ask(clusters.nodes(nodes), wanted, _ignore, look=True, allow_mismatch=allow_mismatch)
    seconds = round(time.monotonic() - began, 3)
    return Preparation(wanted=tuple(wanted), nodes=reports, seconds=seconds)


def declared(actors: Iterable[Any] | None, project: Project) -> list[str]:
    """Return the declared names of some actors; None: all.

    :raises UnknownActor: one is not declared.
    """
    known = [one.name for one in project.environments() if one.kind == "actor"]
    return known if actors is None else [_declared(actor, known, project.file) for actor in actors]


def planned(plan: Plan) -> tuple[Wanted, ...]:
    """Return the environments of a plan as nodes are asked for them."""
    return tuple(
        Wanted(
            key=one.key,
            components=one.components,
            declaration=plan.setting.declaration.file,
            store=one.store.path,
        )
        for one in plan.environments
    )


def _wants(actors: Iterable[Any] | None, project: str | os.PathLike[str] | None = None) -> tuple[Wanted, ...]:
    """Return the environments of some actors; those on the driver's interpreter have none.

    :raises UnknownActor: one is not declared.
    :raises Problems: the environment of one cannot be told.
    """
    from greenroom.project import facade  # noqa: PLC0415 - the full road is heavy

    found = facade.load(project)
    names = declared(actors, found)
    if not names:
        return ()
    plan = found.plan(names)
    if plan.problems:
        raise Problems(problem.error for problem in plan.problems)
    return planned(plan)


def _declared(actor: Any, known: Sequence[str], declaration: str) -> str:
    names = naming.candidates(actor)
    for name in names:
        if name in known:
            return name
    raise UnknownActor(names[0], known=known, declaration=declaration)


def _elsewhere(
    wanted: Sequence[Wanted],
    nodes: Sequence[str],
    observer: Callable[[Said], None],
    *,
    allow_mismatch: bool,
) -> Preparation:
    """Prepare as a driver of its own, whose job has no runtime environment."""
    import subprocess  # noqa: PLC0415 - heavy: only for a job that needs it
    import sys  # noqa: PLC0415

    command = [sys.executable, "-P", "-m", "greenroom", "ray", "prepare", "--json"]
    command += ["--address", clusters.address(), "--project", wanted[0].declaration if wanted else "."]
    command += [word for node in nodes for word in ("--node", node)]
    command += ["--allow-mismatch"] if allow_mismatch else []
    command += [name for one in wanted for name in one.components]
    last: Mapping[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        for line in process.stdout or ():
            said = json.loads(line)
            if "event" in said:
                observer(Said(node=said["node"], address=said["address"], text=said["text"]))
            else:
                last = said
    if "data" not in last:
        what = last.get("error", {}).get("message", f"status {process.returncode}")
        raise ProvisionFailed("prepare", "a driver of its own", str(what))
    from msgspec import convert  # noqa: PLC0415

    return convert(last["data"], Preparation)


def _ignore(_: Said) -> None:
    """Take what a node says and do nothing with it."""
