"""What it costs to reach an actor in its own environment for the first time, on a real Ray of one node.

The environments hold the real Ray, from the index that this machine is configured for.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frame import AtLeast, AtMost, Comparison, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.frame import Measure

__all__ = ["BENCHMARKS"]

PLUGIN = json.dumps([{"class": "greenroom.ray.plugin.GreenroomPlugin"}])
ACTOR = "stage.A"
ROUNDS = 9


def call(scratch: Path) -> Comparison:
    """Compare ``runtime_env()`` with the bare path of the same interpreter."""
    driver = _Driver(scratch)
    return Comparison(
        ours=Side(name="runtime_env()", measure=driver.measure("ours")),
        other=Side(name="py_executable = path", measure=driver.measure("path")),
        goal=AtMost(1.05),
        rounds=ROUNDS,
    )


def call_plugin(scratch: Path) -> Comparison:
    """Compare ``runtime_env()`` on a node that has the plugin with the bare path."""
    driver = _Driver(scratch, plugin=True)
    return Comparison(
        ours=Side(name="runtime_env(), plugin loaded", measure=driver.measure("ours")),
        other=Side(name="py_executable = path", measure=driver.measure("path")),
        goal=AtMost(1.10),
        rounds=ROUNDS,
    )


def call_uv_sync(scratch: Path) -> Comparison:
    """Compare ``runtime_env()`` with the environment as ``uv sync`` leaves it: without bytecode."""
    driver = _Driver(scratch)
    venv = scratch / "app/.venv"
    driver.uv("sync", "--quiet", "--extra", "a")
    return Comparison(
        ours=Side(name="runtime_env()", measure=driver.measure("ours")),
        other=Side(
            name="uv sync's .venv", measure=driver.measure("uv-sync", partial(_without_bytecode, venv))
        ),
        goal=AtLeast(1.7),
        rounds=ROUNDS,
    )


def call_uv_run(scratch: Path) -> Comparison:
    """Compare one call through ``runtime_env()`` with ``uv run``, its environment made and compiled before.

    One actor at a time is where ``uv run`` costs least: it starts a process and looks at the lock.
    """
    driver = _Driver(scratch)
    driver.uv("sync", "--quiet", "--extra", "a")
    return Comparison(
        ours=Side(name="runtime_env()", measure=driver.measure("ours")),
        other=Side(name="py_executable = uv run --extra", measure=driver.measure("uv-run")),
        goal=AtMost(1),
        rounds=ROUNDS,
    )


def first_use(scratch: Path) -> Comparison:
    """Compare the first use ever on a node with Ray's own ``uv``: small packages, all downloads cached."""
    driver = _Driver(scratch)
    return Comparison(
        ours=Side(
            name="an empty store, runtime_env(missing='sync')",
            measure=driver.measure("first", partial(_remove, scratch / "store")),
        ),
        other=Side(name="runtime_env={'uv': [...]}", measure=driver.measure("ray-uv")),
        goal=AtLeast(3),
        rounds=5,
    )


BENCHMARKS = {
    "ray-call": call,
    "ray-call-plugin": call_plugin,
    "ray-call-uv-sync": call_uv_sync,
    "ray-call-uv-run": call_uv_run,
    "ray-first-use": first_use,
}

DRIVER = """\
    import json, logging, sys, time
    import ray
    import greenroom.ray
    import stage

    ray.init(logging_level=logging.ERROR, log_to_driver=False)
    venv, project, packages = json.loads(sys.argv[1])
    sides = {
        "ours": lambda: greenroom.ray.runtime_env(stage.A),
        "path": lambda: {"py_executable": greenroom.ray.python_executable(stage.A)},
        "uv-sync": lambda: {"py_executable": venv + "/bin/python"},
        "uv-run": lambda: {"py_executable": f"uv run --project {project} --extra a --no-sync"},
        "first": lambda: greenroom.ray.runtime_env(stage.A, missing="sync"),
        # Another variable is another environment for Ray: it has no cache of that one.
        "ray-uv": lambda: {"uv": {"packages": packages, "uv_pip_install_options": ["--quiet"] * count}},
    }
    count = 1
    for line in sys.stdin:
        count += 1
        began = time.perf_counter()
        actor = ray.remote(stage.A).options(num_cpus=0, runtime_env=sides[line.strip()]()).remote()
        ray.get(actor.ping.remote())
        print(time.perf_counter() - began, flush=True)
        ray.kill(actor)
        time.sleep(1)
"""


class _Driver:
    """A cluster of one node, and a driver on it that measures one side when it is told to."""

    def __init__(self, scratch: Path, *, plugin: bool = False) -> None:
        self.scratch = scratch
        version = metadata.version("ray")
        self.packages = ["iniconfig==2.0.0", "semver==3.0.4"]
        app = scratch / "app"
        app.mkdir()
        requirements = json.dumps([f"ray=={version}", *self.packages])
        (app / "pyproject.toml").write_text(
            '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11"\n'
            f"[project.optional-dependencies]\na = {requirements}\n[tool.uv]\npackage = false\n"
        )
        (app / "greenroom.toml").write_text(f'[actors]\n"{ACTOR}" = ["a"]\n')
        (app / "stage.py").write_text("class A:\n    def ping(self):\n        return 1\n")
        (app / "driver.py").write_text(textwrap.dedent(DRIVER))
        own = {
            "GREENROOM_STORE": str(scratch / "store"),
            "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            "RAY_AUTH_MODE": "disabled",
        }
        dropped = ("VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "RAY_ADDRESS")
        self.env = {name: value for name, value in os.environ.items() if name not in dropped} | own
        self.env["PATH"] = f"{Path(sys.executable).parent}:{self.env['PATH']}"
        self.uv("lock", "--quiet")
        subprocess.run([sys.executable, "-m", "greenroom", "sync", "-q"], cwd=app, env=self.env, check=True)
        more = {"RAY_RUNTIME_ENV_PLUGINS": PLUGIN} if plugin else {}
        self.folder = Path(tempfile.mkdtemp(prefix="gr-", dir="/tmp"))  # short: it holds sockets
        port = _free_port()
        log = (self.folder / "node.log").open("wb")
        self.node = subprocess.Popen(
            [
                *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
                *("--node-ip-address=127.0.0.1", f"--port={port}", f"--temp-dir={self.folder}/ray"),
                *("--num-cpus=2", "--object-store-memory=100000000", "--include-dashboard=false"),
                "--disable-usage-stats",
            ],
            env=self.env | more | {"RAY_USAGE_STATS_ENABLED": "0"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        _wait_for(self.folder / "node.log")
        atexit.register(self.close)
        self.driver = subprocess.Popen(
            [sys.executable, "driver.py", json.dumps([str(app / ".venv"), str(app), self.packages])],
            cwd=app,
            env=self.env | {"RAY_ADDRESS": f"127.0.0.1:{port}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def uv(self, *arguments: str) -> None:
        """Run uv in the project."""
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run([uv, *arguments], cwd=self.scratch / "app", env=self.env, check=True)

    def measure(self, side: str, before: Callable[[], object] | None = None) -> Measure:
        """Return the measure of one side, as the driver sees it."""

        def run() -> float:
            if before is not None:
                before()
            if self.driver.stdin is None or self.driver.stdout is None:
                raise ValueError(side)
            self.driver.stdin.write(f"{side}\n")
            self.driver.stdin.flush()
            return float(self.driver.stdout.readline())

        return run

    def close(self) -> None:
        """End driver and node, once."""
        if not self.folder.exists():
            return
        if self.driver.stdin is not None:
            self.driver.stdin.close()  # it ends with its input
        self.driver.wait(30)
        self.node.terminate()
        self.node.wait(30)
        shutil.rmtree(self.folder)


def _without_bytecode(venv: Path) -> None:
    for folder in venv.rglob("__pycache__"):
        shutil.rmtree(folder)


def _remove(store: Path) -> None:
    for folder, _, _ in os.walk(store):
        Path(folder).chmod(0o755)
    shutil.rmtree(store, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(log: Path) -> None:
    """Wait until the node says that it runs."""
    end = time.monotonic() + 60
    while b"Ray runtime started" not in log.read_bytes():
        if time.monotonic() > end:
            raise TimeoutError(log.read_text())
        time.sleep(0.1)
