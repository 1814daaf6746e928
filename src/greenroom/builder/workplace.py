"""Where one environment is built: its private folder, its log, its lock, and its way to say things."""

from __future__ import annotations

import os
import shlex
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from greenroom.builder import causes, disk
from greenroom.builder.events import Note, Output, Phase, Waiting
from greenroom.errors import (
    BuildFailed,
    DiskFull,
    GreenroomError,
    GroupEnded,
    HashMismatch,
    InterruptedRunError,
    NotCached,
    UvKilled,
)
from greenroom.uv.secrets import mask

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from greenroom.builder.events import Observer
    from greenroom.builder.fetching import Fetcher
    from greenroom.builder.logs import Log
    from greenroom.builder.work import Job
    from greenroom.store.layout import Store
    from greenroom.uv.process import Group, Outcome
    from greenroom.uv.settings import Transport

__all__ = ["Run", "Workplace"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """What all builds of one run share."""

    store: Store
    group: Group
    """Every process of the run belongs to it."""
    uv: str
    """uv's absolute path."""
    uv_version: Callable[[], str]
    """Asked once, while other work goes on."""
    environ: Mapping[str, str] = field(repr=False)
    """The caller's variables."""
    transport: Transport
    secrets: tuple[str, ...] = field(repr=False)
    offline: bool
    fetcher: Fetcher
    tell: Observer
    """Puts an event on its way to the caller's thread."""
    stopped: threading.Event
    """Set on Ctrl-C or when an observer raised: nothing further is begun."""
    copied: list[tuple[int, int]] = field(default_factory=list)
    """Files and bytes that were copied instead of linked, for each environment that had some."""

    def check(self) -> None:
        """Stop here when the run is stopped.

        :raises InterruptedRunError: it is.
        """
        if self.stopped.is_set():
            raise InterruptedRunError("stopped")


class Workplace:
    """One build's surroundings.

    :param folder: the private folder, mode 0700.
    :param descriptor: the key's lock, inherited by every process of the build.
    """

    def __init__(self, run: Run, job: Job, *, folder: str, log: Log, descriptor: int) -> None:
        self.run = run
        self.job = job
        self.folder = folder
        self.log = log
        self.phase = "install"
        self.building = ""
        """The distribution that is built, in phase ``build``."""
        self._descriptors = (descriptor,)

    def enter(self, phase: str, detail: str = "") -> None:
        """Begin a phase: later failures are its.

        :raises InterruptedRunError: the run is stopped.
        """
        self.run.check()
        self.phase = phase
        self.building = detail if phase == "build" else ""
        self.log.write(f"-- {phase} {detail}".rstrip())
        self.run.tell(
            Phase(
                key=self.job.key,
                components=self.job.components,
                phase=phase,
                detail=mask(detail, self.run.secrets),
                at=time.monotonic(),
            )
        )

    def say(self, line: str) -> None:
        """Log one line of a tool's output and hand it on, masked."""
        self.run.tell(Output(key=self.job.key, line=self.log.write(line), at=time.monotonic()))

    def note(self, text: str) -> None:
        """Say something that the user should know."""
        self.run.tell(Note(key=self.job.key, text=self.log.write(text), at=time.monotonic()))

    def waits(self, what: str, holder: str) -> None:
        """Say that another process holds what this build needs."""
        self.log.write(f"waiting for {what}, held by {holder}")
        self.run.tell(
            Waiting(
                key=self.job.key,
                components=self.job.components,
                what=what,
                holder=holder,
                at=time.monotonic(),
            )
        )

    def failing(
        self, cause: str, kind: type[BuildFailed] = BuildFailed, todo: str | None = None
    ) -> BuildFailed:
        """Return an error that knows component, phase and log."""
        return kind(
            mask(cause, self.run.secrets),
            components=self.job.components,
            key=self.job.key,
            phase=self.phase,
            log=self.log.path,
            todo=todo,
            of=self.building,
        )

    def mapped(self, error: GreenroomError | OSError) -> GreenroomError:
        """Return a foreign failure as one that names component, phase and log."""
        if self.run.stopped.is_set() or isinstance(error, GroupEnded | InterruptedRunError):
            return InterruptedRunError("stopped")
        if isinstance(error, BuildFailed):
            return error
        if disk.is_full(error):
            return self._disk_full(getattr(error, "filename", None) or self.folder or self.run.store.path, "")
        if isinstance(error, OSError):
            place = f" {error.filename}" if error.filename else ""
            return self.failing(f"{error.strerror or type(error).__name__}{place}")
        where = f"{error.where}: " if error.where else ""
        return self.failing(f"{where}{error.what}", todo=error.todo)

    def write(self, name: str, text: str) -> str:
        """Write a private file (mode 0600) into the folder.

        :returns: its absolute path.
        """
        path = os.path.join(self.folder, name)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def uv(
        self,
        arguments: Sequence[str],
        *,
        variables: Mapping[str, str],
        descriptors: Sequence[int] = (),
    ) -> None:
        """Run uv in the private folder.

        :param descriptors: further locks that it inherits.
        :raises BuildFailed: it failed; the cause is in its words.
        """
        self.call([self.run.uv, *arguments], variables=variables, descriptors=descriptors)

    def call(
        self,
        arguments: Sequence[str],
        *,
        variables: Mapping[str, str],
        descriptors: Sequence[int] = (),
        directory: str | None = None,
        kind: type[BuildFailed] = BuildFailed,
        title: str = "",
    ) -> None:
        """Run a program to its end, everything it says logged.

        :param directory: its working directory; None: the private folder.
        :param kind: the error's class when nothing more is known of the failure.
        :param title: what the command is to the user, where the phase does not say it.
        :raises BuildFailed: its status is not 0.
        """
        self.log.write(f"$ {shlex.join(arguments)}")
        outcome = self.run.group.run(
            arguments,
            cwd=directory or self.folder,
            env=variables,
            pass_fds=(*self._descriptors, *descriptors),
            on_line=self.say,
            secrets=self.run.secrets,
        )
        self.log.write(f"status {outcome.status} after {outcome.seconds:.3f} s")
        if not outcome.ok:
            raise self._failure(outcome, arguments[0], kind, title)

    def _failure(self, outcome: Outcome, program: str, kind: type[BuildFailed], title: str) -> GreenroomError:
        if self.run.stopped.is_set():
            return InterruptedRunError("stopped")
        if outcome.status < 0:
            name = signal.Signals(-outcome.status).name
            killed = f"{os.path.basename(program)} was ended by {name}"
            return self.failing(killed, UvKilled, "if nobody did it: the kernel does when memory runs out")
        if causes.disk_is_full(outcome.tail):
            return self._disk_full(self.folder, causes.cause(outcome.tail))
        why = causes.cause(outcome.tail, named=bool(self.building))
        if not any(line.strip() for line in outcome.tail):
            why = f"{os.path.basename(program)} said nothing and ended with status {outcome.status}"
        why = f"{title}: {why}" if title else why
        if causes.fetched_what_is_not_pinned(outcome.tail):
            return self.failing(why, HashMismatch, "ask the index's operator, then lock anew")
        if self.run.offline and causes.missing_from_cache(outcome.tail):
            return self.failing(why, NotCached, "run it once without --offline")
        return self.failing(why, kind)

    def _disk_full(self, path: str, why: str) -> BuildFailed:
        """Return the error; a tool's own words come along, because the full disk may be its cache's."""
        advice = "free some (greenroom gc), or let GREENROOM_STORE and UV_CACHE_DIR name another disk"
        cause = f"{disk.room(path)}: {why}" if why else disk.room(path)
        return self.failing(cause, DiskFull, advice)
