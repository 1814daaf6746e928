"""What this machine can do: marks that skip with a reason, and prefixes that use the capability.

A prefix is a tuple of arguments that goes before a command: ``greenroom("sync",
prefix=on_tmpfs(directory, size="1m"))``.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.pythons import needs_other_patch, needs_python

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "as_nobody",
    "has_ray",
    "needs_command",
    "needs_linux",
    "needs_namespaces",
    "needs_network_namespaces",
    "needs_other_patch",
    "needs_python",
    "needs_root",
    "needs_tmpfs",
    "needs_unprivileged_user",
    "on_tmpfs",
]

NOBODY = 65534


@functools.cache
def _works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


def _unshare() -> tuple[str, ...]:
    # Root inside a namespace of its own: mounts vanish with the last process that sees them.
    own_user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *own_user, "--mount")


def on_tmpfs(directory: Path, *, size: str, inodes: int | None = None) -> tuple[str, ...]:
    """Return a prefix that mounts a small, empty tmpfs on ``directory`` for one command only.

    :param size: as mount takes it: ``1m``.
    """
    options = f"size={size},mode=755" + (f",nr_inodes={inodes}" if inodes else "")
    script = 'mount -t tmpfs -o "$0" none "$1" && shift && exec "$@"'
    return (*_unshare(), "sh", "-c", script, options, str(directory))


def as_nobody() -> tuple[str, ...]:
    """Return a prefix that runs a command as an unprivileged user."""
    return ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")


def needs_command(name: str) -> pytest.MarkDecorator:
    """Skip unless the command is on PATH."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


def has_ray() -> bool:
    """Tell whether Ray is installed beside the tests; those marked ``needs_ray`` are skipped without."""
    return importlib.util.find_spec("ray") is not None


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
needs_unprivileged_user = pytest.mark.skipif(
    os.geteuid() == 0 and not _works(*as_nobody(), "true"), reason="cannot run as another user"
)
needs_namespaces = pytest.mark.skipif(not _works(*_unshare(), "true"), reason="cannot make a mount namespace")
needs_network_namespaces = pytest.mark.skipif(
    os.geteuid() != 0
    or not _works("ip", "link", "show")
    or not _works("unshare", "--net", "--mount", "true"),
    reason="cannot make network namespaces: needs root and ip",
)
needs_tmpfs = pytest.mark.skipif(
    not _works(*_unshare(), "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"),
    reason="cannot mount a tmpfs in a namespace",
)
