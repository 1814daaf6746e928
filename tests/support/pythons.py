"""Find the interpreters that this machine has, and skip with a reason what needs others."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = [
    "Installed",
    "base",
    "installed",
    "needs_other_patch",
    "needs_python",
    "other_patch",
    "python",
]

MINORS = range(9, 16)
QUESTION = "import sys; print(sys.implementation.name, '.'.join(map(str, sys.version_info[:3])), sys.prefix)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A base interpreter of this machine."""

    path: str
    """Absolute and resolved."""
    version: str
    """Three numbers, ``3.11.7``."""

    @property
    def minor(self) -> str:
        """The first two numbers, ``3.11``."""
        return self.version.rpartition(".")[0]


def _candidates() -> list[Path]:
    home = Path.home()
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    folders += [Path("/usr/local/bin"), Path("/usr/bin"), Path("/opt/homebrew/bin")]
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    roots = [pyenv / "versions", home / ".local/share/uv/python"]
    if "RUNNER_TOOL_CACHE" in os.environ:
        roots.append(Path(os.environ["RUNNER_TOOL_CACHE"], "Python"))
    found = [Path(getattr(sys, "_base_executable", sys.executable))]
    # A shim answers differently by working directory: it is no interpreter.
    found += [folder / f"python3.{minor}" for folder in folders if folder.name != "shims" for minor in MINORS]
    for root in roots:
        for minor in MINORS:
            found += sorted(root.glob(f"*3.{minor}*/bin/python3.{minor}"))
            found += sorted(root.glob(f"3.{minor}.*/*/bin/python3.{minor}"))
    return found


def _ask(path: Path) -> Installed | None:
    try:
        answer = subprocess.run(
            [path, "-I", "-S", "-c", QUESTION], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    implementation, version, prefix = answer.stdout.split(maxsplit=2)
    if implementation != "cpython" or Path(prefix.strip(), "pyvenv.cfg").exists():
        return None
    return Installed(path=str(path), version=version)


@functools.cache
def installed() -> tuple[Installed, ...]:
    """Return every CPython found here, this process's base first; virtual environments are left out."""
    resolved = dict.fromkeys(path.resolve() for path in _candidates() if path.exists())
    return tuple(found for path in resolved if (found := _ask(path)) is not None)


def base() -> Installed:
    """Return the base interpreter of the tests' own environment."""
    return installed()[0]


def _first(prefix: str) -> Installed | None:
    numbers = prefix.split(".")
    matching = (found for found in installed() if found.version.split(".")[: len(numbers)] == numbers)
    return next(matching, None)


def _other_patch() -> Installed | None:
    own = base()
    others = (found for found in installed() if found.minor == own.minor and found.version != own.version)
    return next(others, None)


def python(version: str) -> Installed:
    """Return an interpreter by version prefix (``3.12``, ``3.11.7``); pair it with ``needs_python``."""
    found = _first(version)
    assert found is not None, f"Python {version} is not installed: mark the test needs_python({version!r})"
    return found


def other_patch() -> Installed:
    """Return an interpreter of the tests' minor version and another patch release."""
    found = _other_patch()
    assert found is not None, "no other patch release is installed: mark the test needs_other_patch"
    return found


def needs_python(*versions: str) -> pytest.MarkDecorator:
    """Skip unless interpreters of all these versions (prefixes) are installed."""
    missing = [version for version in versions if _first(version) is None]
    return pytest.mark.skipif(bool(missing), reason=f"Python {', '.join(missing)} is not installed")


needs_other_patch = pytest.mark.skipif(
    _other_patch() is None, reason=f"no second patch release of Python {base().minor} is installed"
)
