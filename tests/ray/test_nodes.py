"""Every node is made ready, looked at and checked through the installed command."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.raycluster import ray_version

from greenroom import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.raycluster import Cluster
    from tests.support.workspace import Command

pytestmark = pytest.mark.needs_ray


def _last(text: str) -> Any:
    return json.loads(text.splitlines()[-1])["data"]


@pytest.mark.usefixtures("stage")
def test_prepare_builds_then_finds_then_repairs_and_says_so(
    greenroom: Command, cluster: Cluster, store_path: Path
) -> None:
    where = {"RAY_ADDRESS": cluster.address}
    names = ("stage.A", "stage.B", "stage.C")
    built = greenroom("ray", "prepare", *names, "--json", env=where)
    (node,) = _last(built.stdout)["nodes"]
    assert [found["outcome"] for found in node["environments"]] == ["built", "built"]
    assert (node["greenroom"], node["plugin"], node["ray"]) == (__version__, __version__, ray_version())
    assert any('"event": "said"' in line and "stage.A" in line for line in built.lines)

    victim = next(store_path.glob("*/lib/python*/site-packages/tinylib"))
    shutil.rmtree(victim)
    status = greenroom("ray", "prepare", *names, env=where)
    assert "repaired" in status.stdout
    assert "2 environments on 1 node: 2 of 2 ready" in status.stdout
    greenroom("ray", "status", *names, env=where)


@pytest.mark.usefixtures("synced")
def test_check_names_each_difference_before_an_actor_is_created(greenroom: Command, cluster: Cluster) -> None:
    where = {"RAY_ADDRESS": cluster.address}
    names = ("stage.A", "stage.Other", "stage.Rayless")
    checked = greenroom("ray", "check", *names, status=1, env=where)
    assert f"its environment has ray 2.0.0, the cluster has {ray_version()}" in checked.stdout
    assert "its environment has no ray" in checked.stdout
    greenroom("ray", "check", "stage.A", "stage.B", env=where)
    greenroom("ray", "prepare", "stage.Other", status=1, env=where)


@pytest.mark.usefixtures("stage")
def test_no_cluster_is_an_error_and_a_note(greenroom: Command) -> None:
    for action in ("prepare", "status", "check"):
        run = greenroom("ray", action, "--address", "127.0.0.1:9", status=2)
        assert "no Ray cluster at 127.0.0.1:9" in run.stderr


@pytest.mark.usefixtures("stage", "broken")
def test_prepare_never_succeeds_when_something_is_not_ready(driver: Callable[..., Any]) -> None:
    unknown, said, outcomes, ok = driver("""\
connect()
try:
    greenroom.ray.prepare([stage.A], nodes=["10.9.9.9"])
except greenroom.GreenroomError as error:
    unknown = str(error)
try:
    greenroom.ray.prepare([stage.A, stage.Broken])
except greenroom.GreenroomError as error:
    report, said = error.report, str(error)
tell([unknown, said, [one.outcome for one in report.nodes[0].environments], report.ok])
""")
    assert "no node '10.9.9.9' is alive" in unknown
    assert "not ready on all of 1 nodes" in said
    assert "stage.Broken" in said
    assert outcomes == ["built", "failed"]
    assert not ok


@pytest.mark.usefixtures("synced")
def test_a_job_with_packages_of_its_own_prepares_as_another_driver(driver: Callable[..., Any]) -> None:
    outcomes, said = driver("""\
import greenroom.ray.clusters
connect()
# As if the job had a field that reaches the nodes' own interpreter, without its download.
greenroom.ray.clusters.needs_own_driver = lambda: True
said = []
report = greenroom.ray.prepare([stage.A, stage.C], on_event=said.append)
tell([[one.outcome for one in report.nodes[0].environments], len(said)])
""")
    assert outcomes == ["found"]
    assert said == 0
