"""What all benchmarks share: clean variables, the commands, and removing what stands in a store."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.index import Index, Server

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PYTHON", "Surroundings", "entries", "index", "remove", "uv_lock"]

PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
"""The interpreter that all environments of a benchmark are made for, on both sides."""
_KEPT = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_CACHE_DIR",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A user with nothing configured, and a store of the benchmark's own.

    uv's cache is the benchmarks' own, beside their environment (``UV_CACHE_DIR`` moves it); both sides
    use it, and it is warm. Not the user's: its files are linked into other environments, where tools
    change them in place (a certificate added to a bundle), and then each proof fails first.
    """

    scratch: Path

    @property
    def store(self) -> Path:
        """The store that greenroom builds in."""
        return self.scratch / "store"

    @property
    def memory(self) -> Path:
        """What greenroom remembers outside of its store: removed, a run is a cold one."""
        return self.scratch / "cache" / "greenroom"

    @property
    def env(self) -> dict[str, str]:
        """The variables of both sides: bytecode is written as Python does by default."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return kept | {
            "PATH": f"{Path(PYTHON).parent}{os.pathsep}{os.defpath}",
            "HOME": str(self.scratch / "home"),
            "XDG_CACHE_HOME": str(self.scratch / "cache"),
            "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(Path(sys.prefix) / "uv-cache"),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "GREENROOM_STORE": str(self.store),
            "LANG": "C.UTF-8",
        }

    @property
    def greenroom(self) -> str:
        """The installed command."""
        return str(Path(sys.executable).with_name("greenroom"))

    @property
    def uv(self) -> str:
        """The uv that greenroom uses: the other side uses the same."""
        return str(Path(sys.executable).with_name("uv"))

    def run(self, *arguments: str, cwd: Path, more: Mapping[str, str] | None = None) -> str:
        """Run a command of the preparation and return its output.

        :raises SystemExit: it failed; what it said is shown.
        """
        done = subprocess.run(
            arguments,
            cwd=cwd,
            env=self.env | dict(more or {}),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def answer(self, *arguments: str, cwd: Path) -> Any:
        """Run greenroom with ``--json`` and return the data that it answers, whatever its status."""
        done = subprocess.run(
            [self.greenroom, *arguments, "--json"], cwd=cwd, env=self.env, capture_output=True, check=False
        )
        return json.loads(done.stdout)["data"]


def remove(directory: Path) -> None:
    """Remove a directory whose folders may be read-only, as a store's are."""
    for folder, _, _ in os.walk(directory):
        Path(folder).chmod(0o755)
    if directory.exists():
        shutil.rmtree(directory)


def entries(directory: Path) -> tuple[int, int]:
    """Return the number of files and folders below a directory, and their bytes."""
    count = size = 0
    for folder, _, files in os.walk(directory):
        count += 1
        for name in files:
            count += 1
            size += Path(folder, name).lstat().st_size
    return count, size


def index() -> Index:
    """Open a package index of tiny wheels that lives as long as this process."""
    server = Server()
    atexit.register(server.close)
    opened = server.index()
    atexit.register(opened.close)
    return opened


def uv_lock(around: Surroundings, directory: Path, more: Mapping[str, str] | None = None) -> None:
    """Write the ``uv.lock`` of a project."""
    around.run(around.uv, "lock", "-q", "--python", PYTHON, cwd=directory, more=more)
