"""Start an environment's interpreter the way its programs do, and compare what it says of itself."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from secrets import token_hex
from threading import Thread

from greenroom.errors import GreenroomError
from greenroom.store.model import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.recipes.model import Python
    from greenroom.uv.process import Group

__all__ = ["Start", "plain_variables"]

_DEADLINE = 120.0
"""Seconds: start-up files (``.pth``) may import heavy packages from a cold network disk."""
_MARK = "greenroom-start "
_BODY = f"""
import json, os, sys
v = sys.version_info
suffix = {{"alpha": "a", "beta": "b", "candidate": "rc", "final": ""}}[v[3]]
text = "%d.%d.%d" % v[:3] + (suffix and suffix + str(v[4]))
base = getattr(sys, "_base_executable", None) or sys.executable
print("\\n{_MARK}" + json.dumps({{
    "version": text, "implementation": sys.implementation.name, "prefix": os.path.realpath(sys.prefix),
    "base": os.path.realpath(base), "platform": sys.platform, "virtual": sys.prefix != sys.base_prefix,
}}))
"""
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")


class Start(Thread):
    """One start of an interpreter, running beside the scan of the files.

    With a console script, the header that makes it start the interpreter (a shebang, or uv's three
    lines of shell) is what starts it here, before a body that tells version, prefix and platform; else
    the interpreter is started itself.
    """

    def __init__(self, root: str, group: Group, *, script: str | None) -> None:
        """Prepare; ``script`` is the path of a console script relative to ``root``."""
        super().__init__(name=f"start-{os.path.basename(root)}", daemon=True)
        self._root = root
        self._group = group
        self._header = _header(f"{root}/{script}") if script else None
        self._script = script
        self._lines: list[str] = []
        self._failure: str | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Start it and keep its lines."""
        try:
            if self._header is None:
                self._start([f"{self._root}/bin/python", "-c", _BODY])
            else:
                self._start_script(self._header)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self._error = error

    def findings(self, python: Python) -> tuple[Finding, ...]:
        """Wait for the end and return what differs from the recipe's interpreter.

        :raises GroupEnded: the run was ended meanwhile.
        """
        self.join()
        if self._error is not None:
            raise self._error
        by = self._script if self._header is not None else "bin/python"
        said = [line for line in self._lines if line.startswith(_MARK)]
        if not said:
            last = next((line for line in reversed(self._lines) if line.strip()), "it says nothing")
            message = f"does not start the interpreter: {self._failure or last}"
            return (Finding(kind="start", path=by, message=message),)
        found = json.loads(said[-1].removeprefix(_MARK))
        return tuple(
            Finding(kind="start", path=by, message=f"the interpreter says {name} {found[name]}, not {value}")
            for name, value in _expected(self._root, python)
            if found[name] != value
        )

    def _start_script(self, header: bytes) -> None:
        path = f"{self._root}/bin/.greenroom-{token_hex(6)}"
        try:
            with open(path, "xb") as file:
                file.write(header + _BODY.encode())
            # As the kernel does for a file that begins with «#!», without its race against other
            # threads' forks, which hold a file just written open for a moment («text file busy»).
            self._start([*_interpreter(header), path])
        except OSError as error:
            self._failure = f"{error.strerror}: {error.filename}"
        finally:
            with suppress(OSError):
                os.unlink(path)

    def _start(self, arguments: list[str]) -> None:
        try:
            outcome = self._group.run(
                arguments,
                cwd="/",
                env=plain_variables(os.environ),
                on_line=self._lines.append,
                deadline=time.monotonic() + _DEADLINE,
            )
        except GreenroomError as error:
            if type(error).__name__ == "GroupEnded":
                raise
            self._failure = error.what
            return
        if outcome.late:
            self._failure = f"no answer in {_DEADLINE:.0f} s"
        elif outcome.status < 0:
            self._failure = f"killed by signal {-outcome.status}"


def plain_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the few variables that an interpreter needs, so that the caller's decide nothing."""
    kept = {name: environ[name] for name in _KEPT if name in environ}
    kept.setdefault("PATH", os.defpath)
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "PYTHONNOUSERSITE": "1"}


def _expected(root: str, python: Python) -> tuple[tuple[str, object], ...]:
    return (
        ("version", python.version),
        ("implementation", python.implementation),
        ("prefix", os.path.realpath(root)),
        ("base", os.path.realpath(python.path)),
        ("virtual", True),
    )


def _header(path: str) -> bytes | None:
    """Return the lines of a script that start Python, None when it is no such script."""
    try:
        with open(path, "rb") as file:
            lines = file.read(4096).splitlines(keepends=True)
    except OSError:
        return None
    if not lines or not lines[0].startswith(b"#!"):
        return None
    if b"python" in lines[0]:
        return lines[0]
    # A line that shell reads as exec and Python as a string: what uv and pip write where a shebang
    # cannot hold the path.
    if len(lines) > 2 and lines[1].startswith(b"'''exec'") and lines[2].startswith(b"' '''"):
        return b"".join(lines[:3])
    return None


def _interpreter(header: bytes) -> list[str]:
    first = os.fsdecode(header.splitlines()[0][2:].strip())
    program, _, argument = first.partition(" ")
    return [program, argument.strip()] if argument.strip() else [program]
