"""Several nodes, each with an address and a store of its own; one joins late, one dies, one is damaged."""

from __future__ import annotations

import functools
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import distributions
from tests.support.capabilities import needs_network_namespaces
from tests.support.netnodes import Network
from tests.support.raycluster import ray_files, ray_version
from tests.support.workspace import Command, clean_environment, script, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.workspace import Outcome

pytestmark = [pytest.mark.needs_ray, pytest.mark.cluster, pytest.mark.slow, needs_network_namespaces]

STAGE = """\
import os
import sys


class A:
    def tell(self):
        import ray
        import tinylib

        return [ray.util.get_node_ip_address(), tinylib.__version__, sys.prefix]
"""


class Stage:
    """A project whose environments need no index, and a cluster of nodes with a store each."""

    def __init__(self, directory: Path, uv_cache: Path) -> None:
        self.store = directory / "store"
        nowhere = "http://127.0.0.1:9/simple"
        env = clean_environment(directory, index_url=nowhere, store=self.store, uv_cache=uv_cache)
        self.app = write_files(directory / "app", {"stage.py": STAGE})
        wheels = [
            distributions.wheel("ray", ray_version(), bare=True, files=ray_files()),
            distributions.wheel("tinylib", "1.0"),
        ]
        write_files(self.app / "wheels", {file: content for file, content, _ in wheels})
        sources = "\n".join(f'{file.partition("-")[0]} = {{path = "wheels/{file}"}}' for file, _, _ in wheels)
        distributions.write_source(self.app / "slow", "slow", "1.0", sleeps=60)
        pyproject = (
            '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11"\n'
            '[project.optional-dependencies]\na = ["ray", "tinylib"]\nslow = ["ray", "slow"]\n'
            f'[tool.uv]\npackage = false\n[tool.uv.sources]\nslow = {{path = "slow"}}\n{sources}\n'
        )
        declaration = '[actors]\n"stage.A" = ["a"]\n"stage.Slow" = ["slow"]\n'
        write_files(self.app, {"pyproject.toml": pyproject, "greenroom.toml": declaration})
        Command(script("uv"), cwd=self.app, env=env)("lock", "-q")
        self.network = Network(env, self.store)
        self.network.start(cpus=0)
        self.network.start()

    def greenroom(self, *arguments: str, **options: Any) -> Outcome:
        """Run the installed command on the head."""
        return self._run(script("greenroom"))(*arguments, **options)

    def python(self, *arguments: str, **options: Any) -> Outcome:
        """Run the tests' interpreter on the head."""
        return self._run(script("python"))(*arguments, **options)

    def _run(self, program: str) -> Callable[..., Outcome]:
        env = self.network.env | {"RAY_ADDRESS": self.network.address}
        return functools.partial(Command(program, cwd=self.app, env=env), prefix=self.network.nodes[0].prefix)

    def reports(self, run: Outcome) -> dict[str, dict[str, Any]]:
        """Return address -> the report of a node."""
        data = json.loads(run.lines[-1])["data"]
        return {node["address"]: node for node in data["nodes"]}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, uv_cache: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("nodes"), uv_cache)
    yield stage
    stage.network.close()


def _outcomes(stage: Stage, run: Outcome) -> list[str]:
    found = stage.reports(run)
    return [found[node.address]["environments"][0]["outcome"] for node in stage.network.nodes]


def test_every_node_is_made_ready_repaired_and_covered_when_it_joins_late(stage: Stage) -> None:
    """One story, because a node takes seconds to start: build, use, damage, repair, a late joiner."""
    head, worker = stage.network.nodes
    built = stage.greenroom("ray", "prepare", "stage.A", "--json")
    assert _outcomes(stage, built) == ["built", "built"], "the head without CPUs is covered too"
    where, version, prefix = stage.python("-c", DRIVER).json()
    assert (where, version) == (worker.address, "1.0")
    assert prefix.startswith(str(stage.store))

    shutil.rmtree(next(worker.store.glob("*/lib/python*/site-packages/tinylib")))
    mended = stage.greenroom("ray", "prepare", "stage.A", "--json")
    assert _outcomes(stage, mended) == ["found", "repaired"]

    late = stage.network.start(plugin=False)
    told = stage.greenroom("ray", "status", "stage.A", "--json", status=3)
    assert _outcomes(stage, told) == ["ready", "ready", "missing"]
    assert [bool(stage.reports(told)[node.address]["plugin"]) for node in (head, worker, late)] == [
        True,
        True,
        False,
    ]
    checked = stage.greenroom("ray", "check", "stage.A", status=1)
    assert late.address in checked.stdout
    assert "RAY_RUNTIME_ENV_PLUGINS" in checked.stdout
    covered = stage.greenroom("ray", "prepare", "stage.A", "--json")
    assert _outcomes(stage, covered) == ["found", "found", "built"]
    stage.network.stop(late)


def test_a_node_that_joins_late_with_the_plugin_needs_no_preparation(stage: Stage) -> None:
    stage.greenroom("ray", "prepare", "stage.A", "--node", stage.network.nodes[0].address)
    late = stage.network.start()
    options = f"resources={{'node:{late.address}': 0.01}}, num_cpus=0"
    where, version, _ = stage.python("-c", DRIVER.replace("num_cpus=1", options)).json()
    assert (where, version) == (late.address, "1.0")
    stage.network.stop(late)


def test_a_node_that_dies_meanwhile_is_no_success(stage: Stage) -> None:
    victim = stage.network.start()
    running = stage.python("-c", DYING, timeout=120, env={"VICTIM": victim.address, "PIDS": victim.name})
    kind, said, ok = running.json()
    assert kind == "NodesNotReady"
    assert victim.address in said
    assert not ok
    stage.network.stop(victim)


DRIVER = """\
import json, logging, ray, greenroom.ray, stage
ray.init(logging_level=logging.ERROR, log_to_driver=False)
actor = greenroom.ray.options(stage.A, num_cpus=1).remote()
print(json.dumps(ray.get(actor.tell.remote(), timeout=60)))
"""
DYING = """\
import json, logging, os, signal, subprocess, ray, greenroom.ray, stage
ray.init(logging_level=logging.ERROR, log_to_driver=False)


def kill(said):
    if said.address == os.environ["VICTIM"] and "started" in said.text:
        listed = subprocess.run(["ip", "netns", "pids", os.environ["PIDS"]], capture_output=True, text=True)
        for pid in listed.stdout.split():
            os.kill(int(pid), signal.SIGKILL)


try:
    greenroom.ray.prepare(["stage.Slow"], nodes=[os.environ["VICTIM"]], on_event=kill)
except greenroom.GreenroomError as error:
    print(json.dumps([type(error).__name__, str(error), error.report.ok]))
"""
