"""Build one environment: wait for its lock, install, have it proven, and leave nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from greenroom.builder.events import Started, Waiting
from greenroom.builder.finishing import run_post_install
from greenroom.builder.installing import Installer
from greenroom.builder.logs import Log
from greenroom.builder.work import Result
from greenroom.builder.workplace import Workplace
from greenroom.errors import BuildFailed, GreenroomError, LockBusy, ProofFailed, ProofRejected, StoreFailed
from greenroom.store import layout, locking, moving
from greenroom.store.model import State
from greenroom.uv import commands, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from greenroom.builder.work import Job
    from greenroom.builder.workplace import Run
    from greenroom.store.commit import Committed
    from greenroom.store.layout import Store
    from greenroom.store.locking import Holder
    from greenroom.store.model import Finding

__all__ = ["build", "sweep"]

_BROKEN = "the package's wheel may be broken: report it to its authors, or pin another version"
_DAMAGED = "uv's cache may be damaged: run it once without --offline"


def sweep(store: Store) -> None:
    """Remove the private folders of builds that were killed; those of running builds are locked.

    They may hold the credentials of indexes, and the builds of their keys may never come again.
    """
    with suppress(OSError):
        for key in {name.partition(".")[0] for name in os.listdir(store.building)}:
            with suppress(LockBusy, StoreFailed), locking.hold(store.lock(key), "cleaning", wait=False):
                moving.clear_leftovers(store, key)


def build(run: Run, job: Job) -> Result:
    """Make one environment ready, unless it is or another process makes it meanwhile.

    Whatever fails is in the result: nothing that a user can cause is raised.
    """
    began = time.monotonic()
    try:
        built = _build(run, job, began)
    except GreenroomError as error:
        return _result(run, job, began, error=error)
    return _result(run, job, began, built=built)


def _build(run: Run, job: Job, began: float) -> bool:
    if _is_ready(run, job):
        return False

    def waits(holder: Holder) -> None:
        run.tell(
            Waiting(
                key=job.key,
                components=job.components,
                what=f"the build of {_names(job)}",
                holder=str(holder),
                at=time.monotonic(),
            )
        )

    store = run.store
    with locking.hold(
        store.lock(job.key), f"building {_names(job)}", on_wait=waits, cancelled=run.stopped
    ) as lock:
        if _is_ready(run, job):  # another process built it while we waited
            return False
        if layout.state(store, job.key)[0] == State.DAMAGED:
            from greenroom.store import repair  # noqa: PLC0415 - heavy: only where something is damaged

            repair.refuse_others(store, job.key)  # now, and not after everything was fetched and installed
        _build_locked(run, job, began, lock.fd)
    return True


def _build_locked(run: Run, job: Job, began: float, descriptor: int) -> None:
    store = run.store
    try:
        log = Log(store.logs, job.key, run.secrets)
    except OSError as error:
        raise StoreFailed.of("write a log", store.logs, error) from error
    run.tell(Started(key=job.key, components=job.components, log=log.path, at=time.monotonic()))
    with log:
        log.write(f"environment {job.key} for {', '.join(job.components)}")
        place = Workplace(run, job, folder="", log=log, descriptor=descriptor)
        try:
            moving.clear_leftovers(store, job.key)
            place.folder = tempfile.mkdtemp(prefix=f"{job.key}.", dir=store.building)  # mode 0700
            try:
                committed = _continued(place, began) or _realize(place, began)
            finally:
                shutil.rmtree(place.folder, ignore_errors=True)
        except (GreenroomError, OSError) as error:
            _clear_final(run, job)
            mapped = place.mapped(error)
            log.write(f"failed: {mapped}")
            raise mapped from error
        _note_cost(place, committed)
        log.write("ready")


def _continued(place: Workplace, began: float) -> Committed | None:
    """Continue the partial environment of an earlier image stage, None when there is none."""
    if layout.state(place.run.store, place.job.key)[0] != State.PARTIAL:
        return None
    from greenroom.builder import resuming  # noqa: PLC0415 - rarely

    partial = resuming.partial(place)
    return None if partial is None else resuming.resume(place, partial, began)


def _realize(place: Workplace, began: float) -> Committed:
    """Install and prove; once more when the proof fails, with those at fault fetched anew."""
    try:
        return _attempt(place, began)
    except ProofFailed as error:
        at_fault = _fetched_anew(place, error)
        if not at_fault or place.run.offline:
            raise _rejected(place, error) from error
        place.log.write(f"{error}; fetching anew: {', '.join(at_fault)}")
        findings = error.findings
    try:
        committed = _attempt(place, began, anew=at_fault, before=findings)
    except ProofFailed as error:
        raise _rejected(place, error) from error
    faulty = {fault.distribution for fault in committed.record.faults}
    for name in sorted(faulty):
        place.note(f"{name}: its own RECORD does not say what its wheel holds; this is no damage")
    damaged = [name for name in at_fault if name not in faulty]
    if damaged:
        _heal(place, damaged)
    return committed


def _heal(place: Workplace, names: list[str]) -> None:
    """Take distributions out of uv's cache; a cache that other processes use is left as it is."""
    listed = ", ".join(names)
    config = place.write("uv.toml", settings.config_text(place.run.transport))
    variables = settings.variables(place.run.environ, {"UV_LOCK_TIMEOUT": "1"})
    try:
        place.uv(commands.cache_clean(names, config=config), variables=variables)
    except BuildFailed:
        place.note(f"uv's cache is damaged: `uv cache clean {' '.join(names)}`; fetched anew: {listed}")
    else:
        place.note(f"uv's cache was damaged; fetched anew: {listed}")


def _attempt(
    place: Workplace, began: float, *, anew: tuple[str, ...] = (), before: Sequence[Finding] = ()
) -> Committed:
    run, job = place.run, place.job
    # A name of its own, which the proof looks for in what was installed.
    private = os.path.join(place.folder, os.path.basename(place.folder))
    shutil.rmtree(private, ignore_errors=True)
    wheels = Installer(place, private, anew=anew).install()
    from greenroom.store import commit  # noqa: PLC0415 - loaded by the waiting thread while uv installs

    about = commit.Build(
        key=job.key,
        recipe=job.recipe,
        interpreter=job.interpreter,
        began=began,
        uv=run.uv_version(),
        log=place.log.name,
        smoke=job.supply.smoke,
        wheels=wheels,
        pending=job.pending,
        metadata=job.supply.metadata,
    )
    return commit.commit(
        run.store,
        private,
        about,
        group=run.group,
        before=before,
        # What a record names may be in use, and is exchanged; anything else there is a leftover.
        replace=job.replaces is not None or layout.state(run.store, job.key)[0] == State.DAMAGED,
        force=job.force,
        on_phase=place.enter,
        on_moved=None if job.pending else lambda path: run_post_install(place, path),
    )


def _fetched_anew(place: Workplace, error: ProofFailed) -> tuple[str, ...]:
    """Return the distributions at fault that come through uv's cache."""
    names = {distribution.name for distribution in place.job.recipe.distributions}
    return tuple(name for name in error.distributions if name in names)


def _rejected(place: Workplace, error: ProofFailed) -> GreenroomError:
    for finding in error.findings:
        place.log.write(f"  {finding.text()}")
    advice = _DAMAGED if place.run.offline else _BROKEN
    return place.failing(error.what, ProofRejected, advice if error.distributions else None)


def _note_cost(place: Workplace, committed: Committed) -> None:
    record = committed.record
    place.log.write(f"linked {record.linked} files, copied {record.copied}")
    if record.copied:
        place.run.copied.append((record.copied, committed.shared.size))


def _is_ready(run: Run, job: Job) -> bool:
    state = layout.state(run.store, job.key)[0]
    if state == State.PARTIAL and job.pending:
        from greenroom.store import records  # noqa: PLC0415 - heavy: only where there is one

        partial = records.read_partial(run.store, job.key)
        return partial is not None and set(partial.pending) <= set(job.pending)
    if state != State.READY:
        return False
    if job.replaces is None:
        return True
    from greenroom.store import records  # noqa: PLC0415 - heavy: only where there is one

    record = records.read(run.store, job.key)  # another one may have replaced it meanwhile
    return record is not None and record.built_at != job.replaces


def _clear_final(run: Run, job: Job) -> None:
    """Remove what a failed build moved to the final path: it has no record, but takes space."""
    if layout.state(run.store, job.key)[0] == State.MISSING:
        with suppress(StoreFailed):
            moving.discard(run.store, run.store.environment(job.key))


def _result(
    run: Run, job: Job, began: float, *, built: bool = False, error: GreenroomError | None = None
) -> Result:
    return Result(
        key=job.key,
        components=job.components,
        ok=error is None,
        built=built,
        path=run.store.environment(job.key),
        seconds=time.monotonic() - began,
        error=error,
    )


def _names(job: Job) -> str:
    more = len(job.components) - 1
    return (job.components[0] if job.components else job.key) + (f" and {more} more" if more > 0 else "")
