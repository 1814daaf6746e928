"""Several Ray nodes on one machine: a network namespace and a store of its own for each."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.raycluster import PLUGIN, NotStarted, patiently
from tests.support.workspace import script

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Network", "Node"]

_STARTED = 150.0
"""Seconds after which a node that does not answer is an error."""
_PORT = 6379


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Node:
    """One node in its own namespace; its store is its own at the path that all agree on."""

    def __init__(self, network: Network, number: int, *, plugin: bool, own_store: bool, cpus: int) -> None:
        self.address = f"{network.subnet}.{number}"
        self.name = f"{network.name}n{number}"
        self.folder = Path(tempfile.mkdtemp(prefix="gr-", dir="/tmp"))  # short: it holds sockets
        self.store = network.store
        self._network = network
        self._wire(number)
        head = number == 1
        place = ["--head", f"--port={_PORT}"] if head else [f"--address={network.subnet}.1:{_PORT}"]
        env = dict(network.env) | ({"RAY_RUNTIME_ENV_PLUGINS": PLUGIN} if plugin else {})
        if own_store:
            self.store = self.folder / "store"
            self.store.mkdir()
        log = (self.folder / "start.log").open("wb")
        self.process = subprocess.Popen(
            [
                *self.prefix,
                *(script("ray"), "start", *place, f"--node-ip-address={self.address}"),
                *(f"--temp-dir={self.folder}/ray", f"--num-cpus={cpus}", "--object-store-memory=80000000"),
                *(["--include-dashboard=false"] if head else []),
                *("--disable-usage-stats", "--block"),
            ],
            env=env | {"RAY_USAGE_STATS_ENABLED": "0"},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self._wait()

    @property
    def prefix(self) -> tuple[str, ...]:
        """What stands before a command that runs on this node: its network, and its store in place."""
        bind = 'mount --bind "$0" "$1" && shift && exec "$@"'
        return (
            *("ip", "netns", "exec", self.name, "unshare", "--mount"),
            *("sh", "-c", bind, str(self.store), str(self._network.store)),
        )

    def kill(self) -> None:
        """Kill every process of the node at once, as a power cut does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        listed = subprocess.run(
            ["ip", "netns", "pids", self.name], capture_output=True, text=True, check=False
        )
        for pid in listed.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """End the node and remove everything of it."""
        self.kill()
        with contextlib.suppress(subprocess.CalledProcessError):
            _ip("netns", "del", self.name)
        for folder, _, _ in os.walk(self.folder):
            Path(folder).chmod(0o755)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wire(self, number: int) -> None:
        outer, inner = f"{self._network.name}v{number}", f"{self._network.name}w{number}"
        _ip("netns", "add", self.name)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
        _ip("link", "set", inner, "netns", self.name)
        _ip("link", "set", outer, "master", self._network.bridge, "up")
        _ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", inner)
        _ip("-n", self.name, "link", "set", inner, "up")
        _ip("-n", self.name, "link", "set", "lo", "up")

    def _wait(self) -> None:
        said = self.folder / "start.log"
        end = time.monotonic() + _STARTED
        while b"Ray runtime started" not in said.read_bytes():
            if self.process.poll() is not None or time.monotonic() > end:
                text = said.read_text(errors="replace")
                self.close()
                raise NotStarted(f"the node did not start:\n{text}")
            time.sleep(0.05)


class Network:
    """A bridge with the nodes on it; the first is the head, where commands and drivers run."""

    def __init__(self, env: Mapping[str, str], store: Path) -> None:
        self.name = f"g{os.getpid() % 100000}"
        self.bridge = f"{self.name}b"
        self.subnet = f"10.{os.getpid() % 200 + 20}.77"
        self.env = dict(env)
        self.store = store
        store.mkdir(parents=True, exist_ok=True)
        self.nodes: list[Node] = []
        self._started = 0
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("link", "set", self.bridge, "up")

    def start(self, *, plugin: bool = True, own_store: bool = True, cpus: int = 1) -> Node:
        """Start one more node; one after the other, because several at once time out."""
        self._started += 1
        number = self._started
        node = patiently(lambda: Node(self, number, plugin=plugin, own_store=own_store, cpus=cpus))
        self.nodes.append(node)
        return node

    def stop(self, node: Node) -> None:
        """End a node; the others learn of it by themselves."""
        self.nodes.remove(node)
        node.close()

    @property
    def address(self) -> str:
        """The cluster's address."""
        return f"{self.subnet}.1:{_PORT}"

    def close(self) -> None:
        """End all nodes and remove the bridge."""
        for node in reversed(self.nodes):
            node.close()
        with contextlib.suppress(subprocess.CalledProcessError):
            _ip("link", "del", self.bridge)
