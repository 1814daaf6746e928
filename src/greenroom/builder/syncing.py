"""Build every missing environment, in parallel, and tell what happens on the caller's thread."""

from __future__ import annotations

import os
import threading
import time
import tomllib
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from greenroom.builder import building, disk
from greenroom.builder.events import Event, Failed, Note, Queued, Ready
from greenroom.builder.fetching import Fetcher
from greenroom.builder.work import Result
from greenroom.builder.workplace import Run
from greenroom.errors import GreenroomError, InterruptedRunError
from greenroom.store import layout
from greenroom.uv import binary, secrets, settings
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from greenroom.builder.events import Observer
    from greenroom.builder.work import Job
    from greenroom.store.layout import Store

__all__ = ["sync"]

GRACE = 0.8
"""Seconds that threads have, after their processes were killed, to put things away."""
MOST = 8
"""Builds at once unless asked otherwise: uv itself downloads and links in parallel."""


def sync(
    jobs: Sequence[Job],
    store: Store,
    *,
    observer: Observer,
    environ: Mapping[str, str],
    at_once: int | None = None,
    offline: bool = False,
) -> tuple[Result, ...]:
    """Build what the store lacks of ``jobs``; a failure of one does not stop the others.

    :param jobs: one for each key; their keys are unique.
    :param store: a writable store.
    :param observer: called on this thread with every event; when it raises, the run stops and the
        exception goes on.
    :param environ: the caller's variables; only the documented list reaches a build.
    :param at_once: builds that run at the same time; None chooses by the number of processors.
    :param offline: use only what the store and uv's cache hold.
    :returns: one result for each job, in the order of ``jobs``.
    :raises UvMissing, UvTooOld, UvBroken: there is no uv that can build.
    :raises SettingsUnreadable: a user-wide or machine-wide ``uv.toml`` cannot be read.
    :raises StoreFailed: the store cannot be made.
    :raises KeyboardInterrupt: Ctrl-C, when every process has been killed and every unfinished key
        has had its Failed event.
    """
    if not jobs:
        return ()
    layout.prepare(store)
    building.sweep(store)
    with Group() as group:
        run = _Sync(jobs, store, group, observer=observer, environ=environ, offline=offline)
        return run.run([job.key for job in jobs], at_once)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Broken:
    """A thread met an exception that is no user's doing."""

    error: BaseException


class _Sync:
    """One run: threads build, the caller's thread hands events on."""

    def __init__(
        self,
        jobs: Sequence[Job],
        store: Store,
        group: Group,
        *,
        observer: Observer,
        environ: Mapping[str, str],
        offline: bool,
    ) -> None:
        self._observer = observer
        self._deaf = False
        self._jobs = tuple({job.key: job for job in jobs}.values())
        self._waiting = deque(self._jobs)
        self._messages: SimpleQueue[Event | Result | _Broken] = SimpleQueue()
        self._results: dict[str, Result] = {}
        stopped = threading.Event()
        transport = settings.transport(environ)
        carried = {name: tomllib.loads(f"value = {text}")["value"] for name, text in transport.values}
        uv = binary.find(environ)
        self._run = Run(
            store=store,
            group=group,
            uv=uv,
            uv_version=_asked(lambda: binary.version(uv)),
            environ=environ,
            transport=transport,
            secrets=secrets.secrets_of(environ),
            offline=offline or _is_true(environ.get("UV_OFFLINE")) or carried.get("offline") is True,
            fetcher=Fetcher(
                environ,
                insecure=(
                    *carried.get("allow-insecure-host", ()),
                    *environ.get("UV_INSECURE_HOST", "").split(),
                ),
                system_certificates=_trusts_system(environ, carried),
                stopped=stopped,
            ),
            tell=self._messages.put,
            stopped=stopped,
        )

    def run(self, keys: Sequence[str], at_once: int | None) -> tuple[Result, ...]:
        """Build everything.

        :param keys: the keys whose results are wanted, in their order.
        """
        threads = [
            threading.Thread(target=self._work, name=f"greenroom-build-{number}", daemon=True)
            for number in range(min(at_once or _builds_at_once(), len(self._jobs)))
        ]
        try:
            self._announce()
            for thread in threads:
                thread.start()
            _load_what_comes_later()
            self._run.uv_version()  # too old a uv ends the run
            while len(self._results) < len(self._jobs):
                self._hand_on(self._messages.get())
            self._tell_copies()
        except BaseException:
            self._stop(threads)
            raise
        finally:
            self._run.fetcher.close()
        return tuple(self._results[key] for key in keys)

    def _tell_copies(self) -> None:
        """Say once what could not be linked, and how to avoid it."""
        count, size = (sum(numbers) for numbers in zip((0, 0), *self._run.copied, strict=True))
        if count:
            text = (
                f"{count} files ({disk.size_text(size)}) were copied, not linked: uv's cache is on another "
                "file system than the store; let UV_CACHE_DIR name a directory beside the store"
            )
            self._tell(Note(key="", text=text, at=time.monotonic()))

    def _announce(self) -> None:
        for ignored in self._run.transport.ignored:
            text = f"{ignored.key} in {ignored.file} is ignored: it would change what is installed"
            self._tell(Note(key="", text=text, at=time.monotonic()))
        for job in self._jobs:
            self._tell(Queued(key=job.key, components=job.components, at=time.monotonic()))

    def _tell(self, event: Event) -> None:
        try:
            self._observer(event)
        except KeyboardInterrupt:  # Ctrl-C met it there by chance
            raise
        except BaseException:
            self._deaf = True
            raise

    def _work(self) -> None:
        """Take one job after another, until none is left or the run is stopped."""
        while not self._run.stopped.is_set():
            try:
                job = self._waiting.popleft()
            except IndexError:
                return
            try:
                self._messages.put(building.build(self._run, job))
            except BaseException as error:  # noqa: BLE001 - our bug: raised again on the caller's thread
                self._messages.put(_Broken(error=error))
                return

    def _hand_on(self, message: Event | Result | _Broken) -> None:
        if isinstance(message, _Broken):
            raise message.error
        if not isinstance(message, Result):
            self._tell(message)
            return
        self._results[message.key] = message
        self._tell(_ending(message))

    def _stop(self, threads: Sequence[threading.Thread]) -> None:
        """Kill every process and end every unfinished key; an observer that raised is left alone."""
        self._run.stopped.set()
        self._run.group.end()
        self._run.fetcher.close()
        deadline = time.monotonic() + GRACE
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        if self._deaf:
            return
        with suppress(Empty):
            while True:
                message = self._messages.get_nowait()
                if isinstance(message, Result) and message.ok:
                    self._hand_on(message)  # it became ready just before
        for job in self._jobs:
            if job.key not in self._results:
                self._hand_on(self._unfinished(job))

    def _unfinished(self, job: Job) -> Result:
        what = "stopped; nothing incomplete counts as ready"
        error = InterruptedRunError(what, where=", ".join(job.components) or job.key)
        path = self._run.store.environment(job.key)
        return Result(
            key=job.key, components=job.components, ok=False, built=False, path=path, seconds=0.0, error=error
        )


def _load_what_comes_later() -> None:
    """Import what proofs and records need, on a thread that waits anyway while uv installs."""
    import greenroom.store.commit  # noqa: F401, PLC0415


def _ending(result: Result) -> Ready | Failed:
    if result.error is not None:
        return Failed(key=result.key, components=result.components, error=result.error, at=time.monotonic())
    return Ready(
        key=result.key,
        components=result.components,
        path=result.path,
        built=result.built,
        seconds=result.seconds,
        at=time.monotonic(),
    )


def _asked(ask: Callable[[], str]) -> Callable[[], str]:
    """Start asking on a thread; the returned function waits for the answer, or raises what it met."""
    answers: list[str | GreenroomError] = []

    def work() -> None:
        try:
            answers.append(ask())
        except GreenroomError as error:
            answers.append(error)

    thread = threading.Thread(target=work, name="greenroom-uv-version", daemon=True)
    thread.start()

    def answer() -> str:
        thread.join()
        if not answers:
            return ask()
        if isinstance(answers[0], GreenroomError):
            raise answers[0]
        return answers[0]

    return answer


def _builds_at_once() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(2, min(MOST, usable))


def _trusts_system(environ: Mapping[str, str], carried: Mapping[str, object]) -> bool:
    if any(_is_true(environ.get(name)) for name in ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS")):
        return True
    return carried.get("system-certs") is True or carried.get("native-tls") is True


def _is_true(value: str | None) -> bool:
    return (value or "").strip().lower() in {"1", "true", "yes", "on", "t", "y"}
