"""Actors on a real Ray run in their own environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.raycluster import ray_version
from tests.support.raystage import PROLOGUE, stage_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Fault, Index
    from tests.support.raycluster import Cluster
    from tests.support.workspace import Command

pytestmark = pytest.mark.needs_ray


@pytest.mark.usefixtures("synced")
def test_each_actor_sees_its_own_environment_and_nothing_of_the_node(
    driver: Callable[..., Any], store_path: Path
) -> None:
    (a, b), variables = driver("""\
connect()
a = greenroom.ray.remote(stage.A).remote()
b = greenroom.ray.options(ray.remote(stage.B), num_cpus=0).remote()
tell([ray.get([a.tell.remote(), b.tell.remote()]), ray.get(a.variables.remote())])
""")
    assert (a["tinylib"], b["tinylib"]) == ("2.0.0", "1.1.1")
    for one in (a, b):
        assert one["prefix"].startswith(str(store_path))
        assert one["VIRTUAL_ENV"] == one["child"] == one["prefix"]
        assert one["PATH"].split(":")[0] == f"{one['prefix']}/bin"
        assert one["tiny"] == f"{one['prefix']}/bin/tiny"
    assert "UV_FROZEN" not in variables, "what the node's raylet has of uv is removed"
    assert "CONDA_PREFIX" not in variables
    assert variables["PYTHONPATH"] == ""
    assert variables["POLLUTED"] == "1"


@pytest.mark.usefixtures("synced")
def test_the_job_and_the_caller_keep_their_fields_and_conflicts_are_errors_on_the_driver(
    driver: Callable[..., Any],
) -> None:
    variables, path, errors = driver("""\
connect(runtime_env={"env_vars": {"JOB": "1", "PATH": "/job:${PATH}"}, "working_dir": "."})
own = {"env_vars": {"MINE": "$HOME/x"}, "config": {"eager_install": False}}
actor = greenroom.ray.options(stage.A, runtime_env=own).remote()
errors = []
for more in (
    {"pip": ["six"]},
    {"conda": "x"},
    {"py_executable": "/usr/bin/python3"},
    {"env_vars": {"VIRTUAL_ENV": "/x"}},
):
    try:
        greenroom.ray.runtime_env(stage.A, **more)
    except greenroom.GreenroomError as error:
        errors.append(str(error))
told = ray.get(actor.variables.remote())
tell([told, ray.get(actor.tell.remote())["PATH"], errors])
""")
    assert (variables["JOB"], variables["MINE"]) == ("1", f"{variables['HOME']}/x")
    assert path.split(":")[:2] == [f"{variables['VIRTUAL_ENV']}/bin", "/job"]
    assert "working_dir" in variables["PYTHONPATH"]
    assert len(errors) == 4
    assert "'pip' in the call's runtime_env" in errors[0]


@pytest.mark.usefixtures("synced")
def test_an_actor_that_creates_others_gives_each_its_own(
    driver: Callable[..., Any], stage: Path, store_path: Path
) -> None:
    (stage / "greenroom.toml").write_text(
        (stage / "greenroom.toml")
        .read_text()
        .replace('"stage.A" = ["a"]', '"stage.A" = { extras = ["a"], env = { ONLY_A = "1" } }')
    )
    told = driver("""\
connect()
envs = {one.__name__: greenroom.ray.runtime_env(one) for one in (stage.B, stage.C)}


class Parent(stage.A):
    def create(self, bare):
        import sys
        # greenroom is in no environment of this test: lend it, as a dependency would bring it.
        sys.path += bare
        import greenroom.ray
        found = []
        for one in (stage.B, stage.C):
            child = greenroom.ray.options(ray.remote(one), num_cpus=0).remote()
            found.append([ray.get(child.variables.remote()), ray.get(child.tell.remote())])
        return found


parent = ray.remote(Parent).options(runtime_env=greenroom.ray.runtime_env(stage.A), num_cpus=0).remote()
source = greenroom.__path__[0].rpartition("/")[0]
tell([ray.get(parent.create.remote([source])), ray.get(parent.variables.remote()), envs["B"]])
""")
    ((b_variables, b), (c_variables, c)), parent, _ = told
    assert parent["ONLY_A"] == "1"
    assert b["tinylib"] == "1.1.1"
    assert b["VIRTUAL_ENV"] == b["prefix"] != parent["VIRTUAL_ENV"]
    assert "ONLY_A" not in b_variables
    assert "ONLY_A" not in c_variables
    assert not c["prefix"].startswith(str(store_path)), "the driver's interpreter, not the parent's"
    assert c["VIRTUAL_ENV"] == c["prefix"]


@pytest.mark.usefixtures("synced")
def test_what_would_fail_later_is_an_error_before_the_actor_is_created(driver: Callable[..., Any]) -> None:
    said = driver("""\
connect()
said = []
for one in (stage.Other, stage.Rayless, stage.Broken, "stage.a", 3):
    try:
        greenroom.ray.options(one) if not isinstance(one, (str, int)) else greenroom.ray.runtime_env(one)
    except greenroom.GreenroomError as error:
        said.append([type(error).__name__, str(error)])
said.append(greenroom.ray.runtime_env(stage.Other, allow_mismatch=True)["greenroom"]["key"])
try:
    greenroom.ray.runtime_env(stage.A, needs=["serve"])
except greenroom.GreenroomError as error:
    said.append(type(error).__name__)
tell(said)
""")
    assert [kind for kind, _ in said[:5]] == [
        "RayMismatch",
        "RayMissing",
        "EnvironmentMissing",
        "UnknownActor",
        "NotAnActor",
    ]
    assert f"its environment has ray 2.0.0, the cluster has {ray_version()}" in said[0][1]
    assert "did you mean 'stage.A'" in said[3][1]
    assert '"stage.a" = ["<extra>"]' in said[3][1]


@pytest.mark.usefixtures("stage")
def test_the_plugin_builds_what_is_missing_once(driver: Callable[..., Any], store_path: Path) -> None:
    a, b, pools = driver("""\
connect()
made = [greenroom.ray.options(stage.A, num_cpus=0, missing="plugin").remote() for _ in range(4)]
pools = ray.get([one.tell.remote() for one in made])
kept = {"name": "named", "namespace": "kept", "lifetime": "detached"}
greenroom.ray.options(stage.B, num_cpus=0, missing="sync", **kept).remote()
b = ray.get_actor("named", namespace="kept")
told = ray.get(b.tell.remote())
ray.kill(b)
tell([pools[0], told, [one["prefix"] for one in pools]])
""")
    assert (a["tinylib"], b["tinylib"]) == ("2.0.0", "1.1.1")
    assert len(set(pools)) == 1
    assert len(list(store_path.glob("*/greenroom.json"))) == 2


@pytest.mark.usefixtures("stage")
def test_a_build_that_fails_on_the_node_is_one_attempt_and_an_error_in_seconds(
    driver: Callable[..., Any], index: Index, broken: Fault
) -> None:
    before = len([one for one in index.requests if "rare" in one.path])
    said, seconds = driver("""\
import time

connect()
began = time.monotonic()
actor = greenroom.ray.options(stage.Broken, num_cpus=0, missing="plugin").remote()
try:
    ray.get(actor.tell.remote(), timeout=60)
except Exception as error:
    tell([greenroom.ray.explain(error), time.monotonic() - began])
""")
    assert "stage.Broken" in said
    assert "rare" in said
    assert seconds < 40
    assert len([one for one in index.requests if "rare" in one.path]) <= before + 6, "one attempt"
    assert broken.reached.is_set()


def test_a_path_that_is_gone_is_made_again_by_the_plugin(
    driver: Callable[..., Any], greenroom: Command, stage: Path, store_path: Path
) -> None:
    greenroom("sync", "stage.A")
    (told, more) = driver("""\
import shutil, glob
connect()
env = greenroom.ray.runtime_env(stage.A)
shutil.rmtree(env["py_executable"].split()[-1].removesuffix("/bin/python"))
actor = ray.remote(stage.A).options(runtime_env=env, num_cpus=0).remote()
told = ray.get(actor.tell.remote())
task = greenroom.ray.options(ray.remote(lambda: __import__("tinylib").__version__), declared="stage.A")
tell([told, ray.get(task.remote())])
""")
    assert told["tinylib"] == more == "2.0.0"
    del stage, store_path


def test_a_projects_path_may_hold_anything_and_a_store_inside_is_not_uploaded(
    cluster: Cluster,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    greenroom: Command,
    environ: dict[str, str],
    tmp_path: Path,
) -> None:
    app = project(stage_files(), at="my env & co (v1) 'x' $HOME;é")
    uv_lock(app)
    # A store's own path may not hold such characters, so it is reached by another name.
    (tmp_path / "plain").symlink_to(app)
    store = f"{tmp_path}/plain/store"
    greenroom("sync", "stage.A", cwd=app, env={"GREENROOM_STORE": store})
    python = cluster.python(app, {**environ, "GREENROOM_STORE": store})
    script = """\
connect(runtime_env={"working_dir": "."})
a = greenroom.ray.options(stage.A).remote()
tell([ray.get(a.tell.remote()), ray.get(a.files.remote())])
"""
    (app / "train.py").write_text(PROLOGUE + script)
    told, files = python("train.py").json()
    assert told["tinylib"] == "2.0.0"
    assert "stage.py" in files
    assert not any("cp311-" in name for name in files), "the store stays at home"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(("my", "x"))) == [app.name]
