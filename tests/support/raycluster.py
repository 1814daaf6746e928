"""A real Ray cluster of one node, on the loopback address, with its own folder, ended by its own process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tests.support.workspace import Command, script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.support.index import Index

__all__ = ["PLUGIN", "Cluster", "NotStarted", "add_ray", "free_port", "patiently", "ray_files", "ray_version"]

Started = TypeVar("Started")
PLUGIN = json.dumps([{"class": "greenroom.ray.plugin.GreenroomPlugin"}])
"""What ``RAY_RUNTIME_ENV_PLUGINS`` is to be for ``ray start``."""
_STARTED = 150.0
"""Seconds after which a node that does not answer is an error."""


def ray_version() -> str:
    """Return the version of Ray beside the tests."""
    return metadata.version("ray")


def ray_files() -> dict[str, str]:
    """Return the content of a tiny distribution that lends the real Ray to an environment.

    Its path comes behind the environment's own packages, so that these win.
    """
    folder = next(path for path in sys.path if path.endswith("site-packages"))
    return {"ray_base.pth": f"{folder}\n"}


def add_ray(index: Index, version: str | None = None) -> None:
    """Serve a distribution ``ray`` that lends the real one beside the tests to an environment."""
    index.add_wheel("ray", version or ray_version(), bare=True, files=ray_files())


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port that was free a moment ago."""
    import socket

    with socket.socket() as found:
        found.bind((address, 0))
        return int(found.getsockname()[1])


class NotStarted(AssertionError):
    """A node did not start."""


def patiently(start: Callable[[], Started]) -> Started:
    """Start a node, again when it fails: Ray gives up after 30 seconds, which a busy machine may need."""
    for _ in range(2):
        with contextlib.suppress(NotStarted):
            return start()
    return start()


class Cluster:
    """A head node that was started with certain variables."""

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        more: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        host: str = "127.0.0.1",
        arguments: Sequence[str] = (),
    ) -> None:
        # Short: Ray puts sockets into it, whose paths may have 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="gr-", dir="/tmp"))
        self.port = free_port(host) if not prefix else 6379
        self.address = f"{host}:{self.port}"
        self.log = (self.folder / "start.log").open("wb")
        quiet = {"RAY_USAGE_STATS_ENABLED": "0"}
        self.env = {**env, **quiet, "RAY_ADDRESS": self.address}
        self.process = subprocess.Popen(
            [
                *prefix,
                script("ray"),
                "start",
                "--head",
                f"--node-ip-address={host}",
                f"--port={self.port}",
                f"--temp-dir={self.folder}/ray",
                "--object-store-memory=80000000",
                "--include-dashboard=false",
                "--disable-usage-stats",
                "--block",
                *(arguments or ("--num-cpus=4",)),
            ],
            env={**env, **quiet, **(more or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._wait()

    def _wait(self) -> None:
        """Wait until the node says that it runs."""
        end = time.monotonic() + _STARTED
        said = self.folder / "start.log"
        while b"Ray runtime started" not in said.read_bytes():
            if self.process.poll() is not None or time.monotonic() > end:
                text = said.read_text(errors="replace")
                self.close()
                raise NotStarted(f"ray did not start:\n{text}")
            time.sleep(0.05)

    def python(self, cwd: Path, env: Mapping[str, str] | None = None) -> Command:
        """Return the tests' interpreter as a command whose Ray finds this cluster."""
        return Command(sys.executable, cwd=cwd, env={**self.env, **(env or {})})

    def close(self) -> None:
        """End every process of the node, and remove its folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._end_rest()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_rest(self) -> None:
        """End what is left of the node: every process that names its folder."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    line = (entry / "cmdline").read_bytes()
                    if str(self.folder).encode() in line:
                        os.kill(int(entry.name), signal.SIGKILL)
