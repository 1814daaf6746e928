"""Ask uv for an interpreter, where nothing but the request and the machine decides."""

from __future__ import annotations

import os
import tempfile

from greenroom.interpreters.shims import unwrapped
from greenroom.uv import binary, commands, settings
from greenroom.uv.process import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["search"]


def search(request: str, *, environ: Mapping[str, str], downloads: bool = False) -> tuple[str | None, str]:
    """Return the path of an interpreter that uv names for a request, or None and its reason.

    uv runs in an empty directory, without what chooses an interpreter by variable, and with
    the installations themselves instead of shims on PATH.

    :param downloads: whether uv may fetch one.
    :raises UvMissing: there is no uv.
    """
    uv = binary.find(environ)
    binary.version(uv)
    with tempfile.TemporaryDirectory(prefix="greenroom-") as empty, Group() as group:
        variables = settings.variables(environ)
        variables["PATH"] = unwrapped(variables["PATH"])
        find = (uv, *commands.python_find(request))
        answer = group.run(find, cwd=empty, env=variables).tail
        if _path(answer) is not None or not downloads:
            return _path(answer), _reason(answer)
        config = os.path.join(empty, "uv.toml")
        with open(os.open(config, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            file.write(settings.config_text(settings.transport(environ)))
        install = (uv, *commands.python_install(request, config=config))
        allowed = variables | {"UV_PYTHON_DOWNLOADS": "manual"}
        installed = group.run(install, cwd=empty, env=allowed)
        answer = group.run(find, cwd=empty, env=variables).tail
        return _path(answer), _reason(answer if installed.ok else installed.tail)


def _reason(lines: tuple[str, ...]) -> str:
    """Return uv's words for why there is none."""
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return errors[0] if errors else " ".join(lines[-1:])


def _path(lines: tuple[str, ...]) -> str | None:
    """Return the path that uv printed, among its warnings."""
    for line in reversed(lines):
        if os.path.isabs(line) and os.path.isfile(line):
            return line
    return None
