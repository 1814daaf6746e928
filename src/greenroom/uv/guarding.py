"""Start the process that ends a group when greenroom is gone (``guardian.py``)."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
from contextlib import suppress

from greenroom.errors import ProgramNotStarted
from greenroom.uv.following import pipe

__all__ = ["Guardian"]


class Guardian:
    """The process that holds a group and ends it when this process is gone."""

    def __init__(self) -> None:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guardian.py")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", script],
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
                bufsize=0,
            )
        except OSError as error:
            raise ProgramNotStarted(sys.executable, error.strerror or str(error)) from error
        self.group = self._process.pid

    def alive(self) -> bool:
        """Tell whether it still guards: it alone holds the other end of its output."""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe(self._process.stdout), selectors.EVENT_READ)
            return not selector.select(0)

    def end(self) -> None:
        """Kill the group and reap the guardian.

        It is not reaped before, so that its number, which is the group's, is nobody else's.
        """
        with suppress(ProcessLookupError, PermissionError):  # macOS: only zombies left
            os.killpg(self.group, signal.SIGKILL)
        pipe(self._process.stdin).close()
        self._process.wait()
        pipe(self._process.stdout).close()
