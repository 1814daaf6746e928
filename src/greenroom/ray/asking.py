"""Ask nodes: one task on each, on the node's own interpreter, that runs greenroom there.

The task is sent by value and needs nothing but the standard library, so that a node without
greenroom answers too.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from greenroom import __version__
from greenroom.ray import clusters, preflight
from greenroom.ray.model import NodeEnvironment, NodeReport, Outcome, Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from greenroom.ray.model import Wanted

__all__ = ["ask"]

_ENV = {"py_executable": "", "greenroom": {"probe": True}}
"""The node's own interpreter, whatever the job's is; and a plugin that is loaded there says so."""


def ask(
    nodes: Mapping[str, str],
    wanted: Sequence[Wanted],
    on_event: Callable[[Said], None],
    *,
    look: bool = False,
    allow_mismatch: bool = False,
) -> tuple[NodeReport, ...]:
    """Ask every node about every environment, all nodes at the same time.

    :param nodes: id -> address.
    :param on_event: called on this thread with what nodes say meanwhile.
    :param look: only look; else make ready, and prove what is there.
    :returns: one report for each node, in the given order; whatever happens to it.
    """
    request = json.dumps({"wanted": [_asked(one) for one in wanted], "look": look, "prove": not look})
    said: dict[str, list[dict[str, Any]]] = {node: [] for node in nodes}
    errors: dict[str, str] = {}
    for node, line in _lines(nodes, request, errors):
        said[node].append(line)
        if "event" in line:
            on_event(Said(node=node, address=nodes[node], text=_named(str(line["event"]), wanted)))
    reports = (_report(node, nodes[node], said[node], errors.get(node, ""), wanted) for node in nodes)
    return tuple(_compared(report, allow_mismatch=allow_mismatch) for report in reports)


def _named(text: str, wanted: Sequence[Wanted]) -> str:
    """Return what a node says with names in the place of keys."""
    for one in wanted:
        text = text.replace(one.key, ", ".join(one.components))
    return text


def _asked(one: Wanted) -> dict[str, str]:
    return {
        "key": one.key,
        "component": one.components[0],
        "declaration": one.declaration,
        "store": one.store,
    }


def _lines(
    nodes: Mapping[str, str], request: str, errors: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what nodes say as they say it; why one stopped goes into ``errors``."""
    ray = clusters.module()
    running = {_start(ray, node, request): node for node in nodes}
    while running:
        ready, _ = ray.wait(list(running), num_returns=1)
        for stream in ready:
            node = running[stream]
            try:
                yield node, _decoded(ray.get(next(stream)))
            except StopIteration:
                del running[stream]
            except ray.exceptions.RayError as error:
                errors[node] = _cause(error)
                del running[stream]


def _start(ray: Any, node: str, request: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

    strategy = NodeAffinitySchedulingStrategy(node, soft=False)
    task = ray.remote(_task()).options(
        num_cpus=0, max_retries=0, scheduling_strategy=strategy, runtime_env=_ENV, name="greenroom"
    )
    return task.remote(request)


def _task() -> Callable[[str], Iterator[str]]:
    """Return what runs on a node; a function in a function is sent by value."""

    def work(request: str) -> Iterator[str]:
        import importlib.util  # noqa: PLC0415 - on the node
        import json  # noqa: PLC0415
        import os  # noqa: PLC0415
        import platform  # noqa: PLC0415
        import subprocess  # noqa: PLC0415
        import sys  # noqa: PLC0415

        import ray  # noqa: PLC0415

        source = os.path.join(os.path.dirname(ray.__file__), "_private", "worker.py")
        about = {
            "python": platform.python_version(),
            "ray": ray.__version__,
            "executable": sys.executable,
            "plugin": os.environ.get("GREENROOM_RAY_PLUGIN", ""),
            "bytecode": os.path.isfile(importlib.util.cache_from_source(source)),
        }
        yield json.dumps({"about": about})
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "greenroom.ray.node"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdin is not None  # noqa: S101 - pipes, for type checkers
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            for line in process.stdout:
                yield line.rstrip()
        except BrokenPipeError:
            pass
        finally:
            # Its end of the pipe tells it to stop, also when this worker is killed.
            process.stdin.close()
            process.stdout.close()
            process.wait()

    return work


def _decoded(line: str) -> dict[str, Any]:
    """Return one line of the protocol; whatever else was printed is noise that may explain a failure."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"noise": line}


def _cause(error: Exception) -> str:
    """Return why Ray could not run a node's task, in one line."""
    name = type(error).__name__
    known = {
        "NodeDiedError": "the node died",
        "WorkerCrashedError": "its worker was killed, or the node died",
        "TaskUnschedulableError": "the node died before it could be asked",
        "OwnerDiedError": "the node died",
    }
    return known.get(name) or f"{name}: {str(error).strip().splitlines()[-1][:300]}"


def _report(
    node: str, address: str, said: Sequence[Mapping[str, Any]], error: str, wanted: Sequence[Wanted]
) -> NodeReport:
    about: Mapping[str, Any] = next((line["about"] for line in said if "about" in line), {})
    version = next((str(line["greenroom"]) for line in said if "greenroom" in line), "")
    found = {line["result"].get("key"): line["result"] for line in said if "result" in line}
    if about and not error and version != __version__:
        error = _no_greenroom(about, version, said)
    return NodeReport(
        node=node,
        address=address,
        error=error,
        greenroom=version,
        python=about.get("python", ""),
        ray=about.get("ray", ""),
        plugin=about.get("plugin", ""),
        bytecode=about.get("bytecode", True),
        environments=tuple(_environment(one, found.get(one.key), error) for one in wanted),
    )


def _no_greenroom(about: Mapping[str, Any], version: str, said: Sequence[Mapping[str, Any]]) -> str:
    if version:
        return f"greenroom {version} is beside its Ray, and {__version__} here: install the same"
    noise = [str(line["noise"]) for line in said if "noise" in line]
    missing = not noise or "No module named" in noise[-1]
    if missing:
        return f"no greenroom beside its Ray: {about['executable']} -m pip install greenroom=={__version__}"
    return f"greenroom does not start there: {noise[-1]}"


def _environment(one: Wanted, result: Mapping[str, Any] | None, error: str) -> NodeEnvironment:
    if result is None:
        result = {"outcome": Outcome.FAILED, "error": error or "the node said nothing about it"}
    return NodeEnvironment(
        key=one.key,
        components=one.components,
        outcome=str(result["outcome"]),
        seconds=float(result.get("seconds", 0.0)),
        error=str(result.get("error", "")),
        python=str(result.get("python", "")),
        ray=str(result.get("ray", "")),
    )


def _compared(report: NodeReport, *, allow_mismatch: bool) -> NodeReport:
    """Return a report in which an environment that its node's Ray would not take is an error."""
    node = preflight.Versions(ray=report.ray, python=report.python)
    checked = []
    for found in report.environments:
        if found.error or report.error:
            checked.append(found)
            continue
        has = preflight.Versions(ray=found.ray or None, python=found.python)
        wrong = list(preflight.problems(found.components[0], has, node, allow_mismatch=allow_mismatch))
        checked.append(replace(found, error=str(wrong[0])) if wrong else found)
    return replace(report, environments=tuple(checked))
