"""Prove that a server is ready: attempts that follow each other until one succeeds."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from greenroom.servers import listeners, placeholders, probing, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from greenroom.components import Probe
    from greenroom.servers.loop import Loop

__all__ = ["Readiness"]

_FIRST = 0.02
"""Seconds before the second attempt; each further pause is half as long again, up to the interval."""
_LINE = 65_536
"""Bytes of an unfinished line that are looked at for a pattern."""


class Readiness:
    """The proof of one process.

    :param pid: the process; a stranger's answer on its port does not count.
    :param passed: whether the supervisor's own socket listens for it.
    :param listening: which ports of this machine are listened on.
    :param execute: runs a command beside the server; calls back with its status, None when it took too
        long.
    :param proven: called once, when it is ready.
    """

    def __init__(  # noqa: PLR0913 - each by name
        self,
        loop: Loop,
        probe: Probe,
        values: Mapping[str, str],
        *,
        pid: int,
        passed: bool,
        listening: listeners.Listening,
        execute: Callable[[tuple[str, ...], float, Callable[[int | None], object]], object],
        proven: Callable[[], object],
    ) -> None:
        self._loop, self._probe, self._pid, self._passed = loop, probe, pid, passed
        self._execute, self._proven, self._listening = execute, proven, listening
        self._pause = _FIRST
        self._attempt: probing.Attempt | None = None
        self._over = False
        self._line = b""
        self.problem = ""
        """What the last attempt met."""
        self._target = placeholders.fill(probe.target, values)
        self._command = tuple(placeholders.fill(word, values) for word in probe.command)
        self._timer = loop.after(0, self._begin)
        self._pattern = re.compile(self._target.encode()) if probe.kind == "log" else None

    def feed(self, data: bytes) -> None:
        """Look at output for the pattern that says ready."""
        if self._pattern is None or self._over:
            return
        *lines, rest = (self._line + data).split(b"\n")
        self._line = rest[-_LINE:]
        if any(self._pattern.search(line) for line in (*lines, self._line)):
            self._succeed()

    def end(self) -> None:
        """Stop trying."""
        self._over = True
        self._timer.cancel()
        if self._attempt is not None:
            self._attempt.cancel()
            self._attempt = None

    def _begin(self) -> None:
        if self._over:
            return
        if self._probe.kind == "exec":
            self._execute(self._command, self._probe.timeout, self._executed)
        elif self._probe.kind in {"http", "tcp"}:
            try:
                host, port, request = probing.target(self._probe.kind, self._target)
            except ValueError as error:
                self._failed(f"{self._target}: {error}")
                return
            host = "127.0.0.1" if host == "localhost" else host
            here = host.startswith("127.") or host == "::1"
            if here and self._listening.silent(port, self._loop.now()):
                self._refused("Connection refused")
                return
            self._attempt = probing.Attempt(
                self._loop,
                host,
                port,
                request,
                self._probe.timeout,
                lambda problem: self._reached(port, problem),
            )

    def _reached(self, port: int, problem: str | None) -> None:
        self._attempt = None
        if problem is None and not self._passed and self._is_strangers(port):
            problem = f"port {port} answers, and it is another process that listens there"
        if problem is None:
            self._succeed()
        else:
            self._refused(problem)

    def _refused(self, problem: str) -> None:
        self._failed(problem if self._probe.kind == "tcp" else f"{self._target}: {problem}")

    def _is_strangers(self, port: int) -> bool:
        mine = [self._pid, *tree.descendants(self._pid)]
        return listeners.owned(port, mine) is False and listeners.owned(port, [os.getpid()]) is False

    def _executed(self, status: int | None) -> None:
        if self._over:
            return
        if status == 0:
            self._succeed()
        else:
            self._failed(
                "the probe took too long" if status is None else f"the probe ended with status {status}"
            )

    def _succeed(self) -> None:
        if not self._over:
            self.end()
            self._proven()

    def _failed(self, problem: str) -> None:
        self.problem = problem
        if not self._over:
            self._timer = self._loop.after(self._pause, self._begin)
            self._pause = min(self._pause * 1.5, max(self._probe.interval, 0.01))
