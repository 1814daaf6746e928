"""Find uv and make sure that it is new enough."""

from __future__ import annotations

import os
import sys
from functools import cache

from greenroom.errors import UvBroken, UvMissing, UvTooOld

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["find", "version"]

FLOOR = "0.13.0"
"""The oldest uv whose behaviour is tested; ``uv build`` of 0.10.0 ignored configured build constraints."""

_ANSWER_SECONDS = 60
"""A uv that does not tell its version within this time hangs (a wrapper script, a dead mount)."""


def find(environ: Mapping[str, str]) -> str:
    """Return the path of uv.

    ``GREENROOM_UV`` decides when it is set; else the one beside greenroom's own interpreter,
    then the one of the installed ``uv`` package, then the first on PATH.

    :returns: an absolute path.
    :raises UvMissing: there is none, or ``GREENROOM_UV`` names no program.
    """
    named = environ.get("GREENROOM_UV")
    if named:
        path = os.path.abspath(os.path.expanduser(named))
        if not _is_program(path):
            raise UvMissing((path,), named=named)
        return path
    looked = []
    for path in _places(environ):
        if _is_program(path):
            return path
        looked.append(os.path.dirname(path))
    raise UvMissing(dict.fromkeys(looked))


def _places(environ: Mapping[str, str]) -> Iterator[str]:
    if sys.executable:
        yield os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "uv")
    packaged = _packaged()
    if packaged is not None:
        yield packaged
    for directory in environ.get("PATH", os.defpath).split(os.pathsep):
        # An empty or relative entry means the working directory, which decides nothing here.
        if os.path.isabs(directory):
            yield os.path.join(directory, "uv")


def _packaged() -> str | None:
    try:
        from uv import find_uv_bin  # noqa: PLC0415 - only when it is not beside the interpreter
    except ImportError:
        return None
    try:
        return os.path.abspath(find_uv_bin())
    except OSError:  # its own error class derives from FileNotFoundError
        return None


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


@cache
def version(path: str) -> str:
    """Return the version of the uv at ``path``, asked once per process.

    :raises UvTooOld: it is older than what greenroom is tested with.
    :raises UvBroken: it does not answer as uv does.
    """
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - not on the way of launching

    words = _ask(path).split()
    try:
        found = Version(words[1])
    except (IndexError, InvalidVersion):
        raise UvBroken(path, f"it answers {' '.join(words)[:80]!r}") from None
    if found < Version(FLOOR):
        raise UvTooOld(path, str(found), FLOOR)
    return str(found)


def _ask(path: str) -> str:
    import subprocess  # noqa: PLC0415 - not on the way of launching

    try:
        answer = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
            cwd="/",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except OSError as error:
        raise UvBroken(path, error.strerror or str(error)) from error
    except subprocess.TimeoutExpired:
        raise UvBroken(path, f"no answer within {_ANSWER_SECONDS} s") from None
    if answer.returncode != 0:
        said = answer.stderr.decode(errors="replace").strip()[:200]
        raise UvBroken(path, f"status {answer.returncode}: {said}")
    return answer.stdout.decode(errors="replace")
