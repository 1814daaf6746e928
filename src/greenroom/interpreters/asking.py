"""Ask an interpreter what it is, by running it."""

from __future__ import annotations

import json
import os
import subprocess

from greenroom.errors import PythonBroken, PythonTooOld
from greenroom.interpreters.model import Interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ask", "neutral"]

MINIMUM = (3, 8)
"""The oldest Python that environments are built for: uv's own limit."""

_ANSWER_SECONDS = 60
"""An interpreter that does not answer within this time hangs (a dead mount, a wrapper)."""
_DECIDING = (
    "PYTHON",
    "_PYTHON",
    "UV_",
    "PIP_",
    "VIRTUAL_ENV",
    "CONDA_",
    "PYENV_VERSION",
    "PYENV_DIR",
    "__PYVENV",
)
"""Beginnings of variables that change what an interpreter or a shim says."""
_LEVELS = {"alpha": "a", "beta": "b", "candidate": "rc"}


def neutral(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables without those that choose or change an interpreter.

    The rest stays: a loader's search path may be what an interpreter needs to start at all.
    """
    return {name: value for name, value in environ.items() if not name.startswith(_DECIDING)}


def ask(path: str, environ: Mapping[str, str]) -> tuple[Interpreter, str]:
    """Run the interpreter at ``path`` (any name, shim or environment of it).

    :returns: what it says of itself, and the base interpreter's resolved path that it names.
    :raises PythonBroken: it does not start, or what it says makes no sense.
    :raises PythonTooOld: no environment can be built for it.
    """
    facts = _facts(path, environ)
    try:
        major, minor, micro, level, serial = facts["version_info"]
        version = f"{major}.{minor}.{micro}" + (f"{_LEVELS[level]}{serial}" if level in _LEVELS else "")
        base = os.path.realpath(facts["base"])
    except (KeyError, TypeError, ValueError) as error:
        raise PythonBroken(path, "its answer makes no sense") from error
    if (major, minor) < MINIMUM:
        raise PythonTooOld(path, version, ".".join(map(str, MINIMUM)))
    tags = tuple(facts["tags"]) or _tags(path, facts)
    found = Interpreter(
        path=base,
        implementation=facts["implementation"],
        version=version,
        cache_tag=facts["cache_tag"],
        abi=tags[0].split("-")[1],
        magic=facts["magic"],
        platform=facts["platform"],
        markers=tuple(sorted(facts["markers"].items())),
        tags=tags,
        stat=_stat(path, base),
    )
    return found, base


def _facts(path: str, environ: Mapping[str, str]) -> dict[str, Any]:
    import packaging  # noqa: PLC0415 - only its place is needed, and only here

    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.dirname(os.path.dirname(os.path.abspath(packaging.__file__)))
    try:
        answer = subprocess.run(
            [path, "-I", "-S", os.path.join(here, "probe.py"), library],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=neutral(environ),
            cwd="/",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except OSError as error:
        raise PythonBroken(path, error.strerror or str(error)) from error
    except subprocess.TimeoutExpired:
        raise PythonBroken(path, f"no answer within {_ANSWER_SECONDS} s") from None
    if answer.returncode != 0:
        said = answer.stderr.decode(errors="replace").strip().splitlines()
        raise PythonBroken(path, f"it ends with status {answer.returncode}: {said[0][:200] if said else ''}")
    try:
        facts = json.loads(answer.stdout)
    except ValueError:
        raise PythonBroken(path, f"it does not answer as Python does: {answer.stdout[:80]!r}") from None
    if not isinstance(facts, dict):
        raise PythonBroken(path, "its answer makes no sense")
    return facts


def _stat(path: str, base: str) -> tuple[int, int, int]:
    try:
        found = os.stat(base)
    except OSError as error:
        raise PythonBroken(path, f"it names {base} as its base: {error.strerror}") from error
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _tags(path: str, facts: dict[str, Any]) -> tuple[str, ...]:
    """Tell the wheel tags of a Python too old for ``packaging``, from here.

    The platform part is then greenroom's own, which must be the same.
    """
    import sysconfig  # noqa: PLC0415 - only for old interpreters

    from packaging.tags import compatible_tags, cpython_tags, platform_tags  # noqa: PLC0415 - the same

    from greenroom.interpreters.probe import libc  # noqa: PLC0415 - the same

    major, minor = facts["version_info"][:2]
    if facts["implementation"] != "cpython":
        raise PythonTooOld(path, f"{facts['implementation']} {major}.{minor}", "3.10")
    if (facts["platform"], facts["libc"]) != (sysconfig.get_platform(), libc()):
        raise PythonBroken(path, f"its platform {facts['platform']} is not greenroom's own")
    abi = f"cp{major}{minor}" + ("d" if f"cpython-{major}{minor}d" in facts["suffix"] else "")
    platforms = list(platform_tags())
    own = cpython_tags((major, minor), abis=[abi], platforms=platforms)
    general = compatible_tags((major, minor), interpreter=f"cp{major}{minor}", platforms=platforms)
    return tuple(str(tag) for tags in (own, general) for tag in tags)
