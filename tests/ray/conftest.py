"""One local cluster for all tests of a process, with an index that its agent knows from its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.capabilities import has_ray
from tests.support.raycluster import PLUGIN, Cluster, add_ray, patiently
from tests.support.raystage import PROLOGUE, stage_files
from tests.support.workspace import clean_environment, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.index import Fault, Index, Server
    from tests.support.workspace import Command


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs Ray where there is none; a folder's hook gets every folder's tests."""
    skip = pytest.mark.skip(reason="Ray is not installed")
    for item in items:
        if item.get_closest_marker("needs_ray") and not has_ray():
            item.add_marker(skip)


@pytest.fixture(scope="session")
def _ray_index(index_server: Server) -> Iterator[Index]:
    index = index_server.index()
    add_ray(index)
    add_ray(index, "2.0.0")
    for version in ("1.1.1", "2.0.0"):
        index.add_wheel("tinylib", version, scripts={"tiny": "tinylib:main"})
    # Nothing fetches its wheel with success, so that no cache has it.
    index.add_wheel("rare", "1.0")
    yield index
    index.close()


@pytest.fixture
def index(_ray_index: Index) -> Index:
    """Return the index that the cluster was started with."""
    return _ray_index


@pytest.fixture(scope="session")
def cluster(_ray_index: Index, uv_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start one node with the plugin, for all tests of this process."""
    directory = tmp_path_factory.mktemp("ray")
    env = clean_environment(directory, index_url=_ray_index.url, store=directory / "store", uv_cache=uv_cache)
    more = {"RAY_RUNTIME_ENV_PLUGINS": PLUGIN, "POLLUTED": "1", "UV_FROZEN": "1", "CONDA_PREFIX": "/x"}
    cluster = patiently(lambda: Cluster(env, more=more))
    yield cluster
    cluster.close()


@pytest.fixture
def stage(project: Callable[..., Path], uv_lock: Callable[..., object]) -> Path:
    """Write a project whose actors cannot share an environment."""
    path = project(stage_files())
    uv_lock(path)
    return path


@pytest.fixture
def driver(cluster: Cluster, stage: Path, environ: dict[str, str]) -> Iterator[Callable[..., object]]:
    """Run a driver script in the project, connected to the cluster; it prints one line of JSON."""
    python = cluster.python(stage, environ)

    def run(script: str, *, status: int | None = 0, env: dict[str, str] | None = None) -> object:
        write_files(stage, {"train.py": PROLOGUE + script})
        outcome = python("train.py", env=env, status=status)
        return outcome.json() if status == 0 else outcome

    yield run
    python.close()


@pytest.fixture
def broken(index: Index) -> Iterator[Fault]:
    """Let the index fail for what one actor needs."""
    fault = index.fault("/files/rare-1.0*.whl", status=404)
    yield fault
    index.heal()


@pytest.fixture
def synced(greenroom: Command, stage: Path) -> Path:
    """Build the environments of the actors that can be used."""
    greenroom("sync", "stage.A", "stage.B", "stage.Rayless", "stage.Other")
    return stage
