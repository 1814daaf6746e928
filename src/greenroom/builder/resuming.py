"""Continue a partial environment where it stands: an image's later layer brings what it lacks.

Nothing of an earlier layer is moved, installed anew or given another mode: a file system of layers
would store it once more, and a directory of a lower layer cannot be renamed at all.
"""

from __future__ import annotations

import os
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING

from greenroom.builder.finishing import run_post_install
from greenroom.builder.installing import Installer
from greenroom.errors import GreenroomError, ProofFailed, ProofRejected, RecordUnreadable
from greenroom.store import commit, layout, records, rows
from greenroom.store.model import Finding, State
from greenroom.store.unowned import unowned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.builder.workplace import Workplace
    from greenroom.store.commit import Committed
    from greenroom.store.model import Fault, Record

__all__ = ["partial", "resume"]

_REBUILD = "an earlier stage's files changed since: build the image anew from that stage"


def partial(place: Workplace) -> Record | None:
    """Return the record of the partial environment that is to be continued, None when there is none."""
    store, job = place.run.store, place.job
    if job.replaces is not None or layout.state(store, job.key)[0] != State.PARTIAL:
        return None
    with suppress(RecordUnreadable):
        return records.read_partial(store, job.key)
    return None


def resume(place: Workplace, known: Record, began: float) -> Committed:
    """Add what this stage brings, prove the whole, and write the next record. Under the key's lock.

    :param known: the partial record.
    :param began: ``time.monotonic()`` when the build began.
    :raises GreenroomError: it failed; what was there before stands as it stood.
    """
    job, store = place.job, place.run.store
    brought = frozenset(known.pending) - frozenset(job.pending)
    root = store.environment(job.key)
    _clear(root, known)  # what a stage that was killed left
    os.chmod(root, 0o755)  # noqa: S103 - for reading and entering
    try:
        _open(place, root, brought)
        wheels = {item.name: item.wheel for item in known.installed if item.wheel}
        wheels |= dict(Installer(place, root).resume(brought))
        about = commit.Build(
            key=job.key,
            recipe=job.recipe,
            interpreter=job.interpreter,
            began=began,
            uv=place.run.uv_version(),
            log=place.log.name,
            smoke=job.supply.smoke,
            wheels=tuple(sorted(wheels.items())),
            pending=job.pending,
            metadata=job.supply.metadata,
        )
        return commit.commit(
            store,
            root,
            about,
            group=place.run.group,
            before=[_finding(fault) for fault in known.faults],
            resumed=brought,
            on_phase=place.enter,
            on_moved=None if job.pending else lambda path: run_post_install(place, path),
        )
    except ProofFailed as error:
        _clear(root, known)
        for finding in error.findings:
            place.log.write(f"  {finding.text()}")
        old = set(error.distributions) - brought
        raise place.failing(error.what, ProofRejected, _REBUILD if old else None) from error
    except (GreenroomError, OSError):
        _clear(root, known)
        raise


def _clear(root: str, known: Record) -> None:
    """Remove what stands there beside what the partial record knows."""
    names = {item.name for item in known.installed}
    found, _ = rows.distributions(root)
    folders = set()
    for path in unowned(root, tuple(item for item in found if item.name in names)):
        folder = os.path.dirname(f"{root}/{path}")
        _writable(folder)
        os.unlink(f"{root}/{path}")
        folders.add(folder)
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(f"{folder}/__pycache__")
        place = folder
        while place != root:
            _writable(os.path.dirname(place))
            try:
                os.rmdir(place)
            except OSError:  # others' files are in it
                break
            place = os.path.dirname(place)


def _writable(folder: str) -> None:
    """Let this user write into a folder; root may anyway, and a mode need not change for it."""
    if not os.access(folder, os.W_OK):
        os.chmod(folder, 0o755)  # noqa: S103 - for reading and entering


def _open(place: Workplace, root: str, brought: frozenset[str]) -> None:
    """Let this user write where the new files go: a finished stage's folders are read-only."""
    site = f"{root}/{rows.site_packages(root)}"
    for folder in (site, f"{root}/bin"):
        _writable(folder)
    directory = place.job.late_wheels
    if directory is None or os.geteuid() == 0:
        return
    for file in os.listdir(directory):
        if file.endswith(".whl") and file.partition("-")[0].lower().replace("_", "-") in brought:
            for folder in _folders(f"{directory}/{file}"):
                for path in (f"{site}/{folder}", f"{site}/{folder}/__pycache__"):
                    if os.path.isdir(path):
                        _writable(path)


def _folders(wheel: str) -> Iterable[str]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):  # uv says it
        return ()
    return sorted({os.path.dirname(name) for name in names})


def _finding(fault: Fault) -> Finding:
    """Return what the earlier proof found, by which the same is known again as the package's own fault."""
    return Finding(
        kind="edited",
        distribution=fault.distribution,
        path=fault.path,
        message="",
        size=fault.size,
        sha256=fault.sha256,
    )
