"""Run uv so that it never outlives greenroom.

All processes of a :class:`Group` live in the process group of its guardian, a tiny process that
kills the group when greenroom is gone. A child joins the group between fork and exec, while it
still holds the guardian's pipe open: so there is no moment in which greenroom can die without it.
A process that leaves the group on purpose (``setsid``) is out of reach.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass

from greenroom.errors import GroupEnded, ProgramNotStarted
from greenroom.uv.following import follow, kill, output
from greenroom.uv.guarding import Guardian
from greenroom.uv.secrets import mask, secrets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

__all__ = ["Group", "Outcome", "ignore"]

_TAIL = 200
"""Lines of output that an outcome keeps: uv's longest explanations have about a hundred."""


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
        self._guardians: list[Guardian] = []
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
        errors_only: bool = False,
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
        :param errors_only: leave standard output unread, where a program repeats what it writes to a file.
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

        process = self._start(arguments, cwd=cwd, env=env, pass_fds=pass_fds, errors_only=errors_only)
        try:
            late = follow(process, hand_over, deadline)
        except BaseException:  # Ctrl-C, or an observer that raises: nothing may stay behind
            kill(process)
            raise
        finally:
            process.wait()
            output(process).close()
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
        self,
        arguments: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        pass_fds: Sequence[int],
        errors_only: bool,
    ) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._ended:
                raise GroupEnded(arguments[0])
            if not self._guardians or not self._guardians[-1].alive():
                self._guardians.append(Guardian())
            try:
                return subprocess.Popen(
                    list(arguments),
                    cwd=cwd,
                    env=dict(env),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL if errors_only else subprocess.PIPE,
                    stderr=subprocess.PIPE if errors_only else subprocess.STDOUT,
                    pass_fds=tuple(pass_fds),
                    process_group=self._guardians[-1].group,
                    bufsize=0,
                )
            except OSError as error:
                reason = error.strerror or str(error)
                raise ProgramNotStarted(arguments[0], reason) from error
