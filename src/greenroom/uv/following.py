"""Follow a running process: its lines, its end, its deadline."""

from __future__ import annotations

import os
import selectors
import signal
import threading
import time
from contextlib import suppress

from greenroom.uv.lines import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from types import TracebackType
    from typing import IO, Self

__all__ = ["follow", "kill", "output", "pipe"]

_BLOCK = 1 << 16


def follow(
    process: subprocess.Popen[bytes], hand_over: Callable[[str], None], deadline: float | None
) -> bool:
    """Hand over a process's lines until it ends.

    The process's end counts, not its pipe's: a daemon that a build backend left may hold that.

    :param deadline: ``time.monotonic()`` seconds at which it is killed.
    :returns: whether the deadline ended it.
    """
    stream = output(process).fileno()
    os.set_blocking(stream, False)
    lines, late = Lines(), False
    with _Ending(process) as ending, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        selector.register(ending.descriptor, selectors.EVENT_READ)
        ended = drained = False
        while not ended:
            left = None if deadline is None or late else max(0.0, deadline - time.monotonic())
            ready = {key.fd for key, _ in selector.select(left)}
            if not ready and not late:
                kill(process)
                late = True
            ended = ending.descriptor in ready
            if not drained and (ended or stream in ready):
                drained = _drain(stream, lines, hand_over)
                if drained:
                    selector.unregister(stream)
    for line in lines.rest():
        hand_over(line)
    return late


def _drain(descriptor: int, lines: Lines, hand_over: Callable[[str], None]) -> bool:
    """Hand over what a pipe holds now; True at its end."""
    while True:
        try:
            block = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return False
        for line in lines.feed(block):
            hand_over(line)
        if not block:
            return True


class _Ending:
    """A descriptor that becomes readable when a process ends: a thread waits, nobody polls."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.descriptor, self._other = os.pipe()
        self._thread = threading.Thread(target=self._wait, name=f"wait-{process.pid}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            kill(self._process)
        self._thread.join()
        os.close(self.descriptor)

    def _wait(self) -> None:
        self._process.wait()
        os.close(self._other)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and the descendants that ``/proc`` names (elsewhere: the process alone)."""
    if process.poll() is not None:
        return
    family = [process.pid]
    for parent in family:  # grows while it is walked
        family.extend(_children(parent))
    for member in family:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def _children(parent: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as file:
                found.extend(int(number) for number in file.read().split())
    return found


def output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """Return the pipe that a process writes to."""
    return pipe(process.stdout or process.stderr)


def pipe(end: IO[bytes] | None) -> IO[bytes]:
    """Return a process's pipe, which is there because it was asked for."""
    if end is None:
        raise ValueError
    return end
