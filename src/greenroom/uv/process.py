"""Run uv so that it never outlives greenroom.

All processes of a :class:`Group` live in the process group of its guardian, a tiny process that
kills the group when greenroom is gone. A child joins the group between fork and exec, while it
still holds the guardian's pipe open: so there is no moment in which greenroom can die without it.
A process that leaves the group on purpose (``setsid``) is out of reach.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from greenroom.errors import GroupEnded, ProgramNotStarted
from greenroom.uv.lines import Lines
from greenroom.uv.secrets import mask, secrets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import IO, Self

__all__ = ["Group", "Outcome", "ignore"]

_TAIL = 200
"""Lines of output that an outcome keeps: uv's longest explanations have about a hundred."""
_BLOCK = 1 << 16


def ignore(line: str) -> None:
    """Do nothing with a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a process ended."""

    status: int
    """Exit status; the negative number of the signal that killed it."""
    tail: tuple[str, ...]
    """Its last lines, credentials masked."""
    seconds: float
    late: bool = False
    """Whether it was killed because its deadline had passed."""

    @property
    def ok(self) -> bool:
        """Whether it ended with status 0."""
        return self.status == 0


class Group:
    """The processes of one run: started together with a guardian, ended together.

    Use it as a context manager; leaving it ends whatever still runs in it. Several threads may
    run processes in one group at the same time.
    """

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._guardians: list[_Guardian] = []
        self._ended = False

    def __enter__(self) -> Self:
        """Return the group; its guardian is started with its first process."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End every process of the group."""
        self.end()

    def run(  # noqa: PLR0913 - what a process needs, all but two by name
        self,
        arguments: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        pass_fds: Sequence[int] = (),
        on_line: Callable[[str], None] = ignore,
        deadline: float | None = None,
        secrets: Sequence[str] = (),
    ) -> Outcome:
        """Run a program to its end and hand over its output line by line.

        Standard input is empty; output and errors come as one stream. Bytes that are no UTF-8 are
        replaced, carriage returns end a line too, very long lines are cut into pieces.

        :param arguments: program (an absolute path) and arguments.
        :param cwd: its working directory.
        :param env: its whole environment.
        :param pass_fds: descriptors that it inherits; a lock's is held until it and its children end.
        :param on_line: called with each line, masked, on the calling thread; what it raises ends
            the process and goes on to the caller.
        :param deadline: ``time.monotonic()`` seconds at which it is killed, with those of its
            descendants that ``/proc`` names.
        :param secrets: values to mask beside those that ``env`` holds.
        :returns: status and last lines. A non-zero status is the caller's to judge.
        :raises GroupEnded: the group was ended before the process started.
        :raises ProgramNotStarted: the operating system does not start it.
        """
        begun = time.monotonic()
        hidden = (*secrets, *secrets_of(env))
        tail: deque[str] = deque(maxlen=_TAIL)

        def hand_over(line: str) -> None:
            masked = mask(line, hidden)
            tail.append(masked)
            on_line(masked)

        process = self._start(arguments, cwd=cwd, env=env, pass_fds=pass_fds)
        try:
            late = _read(process, hand_over, deadline)
        except BaseException:  # Ctrl-C, or an observer that raises: nothing may stay behind
            _kill(process)
            raise
        finally:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        return Outcome(
            status=process.returncode, tail=tuple(tail), seconds=time.monotonic() - begun, late=late
        )

    def end(self) -> None:
        """Kill every process of the group at once; later runs are refused.

        The killed processes are reaped by the threads that run them, the guardian here. It may be
        called from any thread and more than once.
        """
        # A start holds the lock: what was started before is killed here, what comes after is refused.
        with self._starting:
            self._ended = True
            guardians, self._guardians = self._guardians, []
            for guardian in guardians:
                guardian.end()

    def _start(
        self, arguments: Sequence[str], *, cwd: str, env: Mapping[str, str], pass_fds: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._ended:
                raise GroupEnded(arguments[0])
            if not self._guardians or not self._guardians[-1].alive():
                self._guardians.append(_Guardian())
            try:
                return subprocess.Popen(
                    list(arguments),
                    cwd=cwd,
                    env=dict(env),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=tuple(pass_fds),
                    process_group=self._guardians[-1].group,
                    bufsize=0,
                )
            except OSError as error:
                reason = error.strerror or str(error)
                raise ProgramNotStarted(arguments[0], reason) from error


class _Guardian:
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
            selector.register(_pipe(self._process.stdout), selectors.EVENT_READ)
            return not selector.select(0)

    def end(self) -> None:
        """Kill the group and reap the guardian.

        It is not reaped before, so that its number, which is the group's, is nobody else's.
        """
        with suppress(ProcessLookupError, PermissionError):  # macOS: only zombies left
            os.killpg(self.group, signal.SIGKILL)
        _pipe(self._process.stdin).close()
        self._process.wait()
        _pipe(self._process.stdout).close()


def _read(process: subprocess.Popen[bytes], hand_over: Callable[[str], None], deadline: float | None) -> bool:
    """Hand over a process's lines until it ends; True when the deadline ended it.

    The process's end counts, not its pipe's: a daemon that a build backend left may hold that.
    """
    output = _pipe(process.stdout).fileno()
    os.set_blocking(output, False)
    lines, late = Lines(), False
    with _Ending(process) as ending, selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        selector.register(ending.descriptor, selectors.EVENT_READ)
        while True:
            left = None if deadline is None or late else max(0.0, deadline - time.monotonic())
            ready = {key.fd for key, _ in selector.select(left)}
            if not ready and not late:
                _kill(process)
                late = True
            ended = ending.descriptor in ready
            if (output in ready or ended) and _drain(output, lines, hand_over):
                selector.unregister(output)
                output = -1
            if ended:
                break
    for line in lines.rest():
        hand_over(line)
    return late


def _drain(descriptor: int, lines: Lines, hand_over: Callable[[str], None]) -> bool:
    """Hand over what a pipe holds now; True at its end."""
    if descriptor < 0:
        return False
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
            _kill(self._process)
        self._thread.join()
        os.close(self.descriptor)

    def _wait(self) -> None:
        self._process.wait()
        os.close(self._other)


def _kill(process: subprocess.Popen[bytes]) -> None:
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


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:  # every process here is started with the pipes that are asked for
        raise ValueError
    return pipe
