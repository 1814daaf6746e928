"""Errors of builds: what was fetched, built, installed or locked."""

from __future__ import annotations

from greenroom.errors.root import FailedError

__all__ = [
    "BuildFailed",
    "DiskFull",
    "FetchFailed",
    "HashMismatch",
    "LateMissing",
    "LockingFailed",
    "NotCached",
    "ProofRejected",
    "SourceChanged",
    "SourceMissing",
    "UvKilled",
    "WrongWheel",
]


def _names(components: tuple[str, ...]) -> str:
    shown = ", ".join(components[:3])
    more = len(components) - 3
    return f"{shown} and {more} more" if more > 0 else shown


class BuildFailed(FailedError):
    """An environment could not be built.

    :param components: who uses it.
    :param phase: ``lock``, ``download``, ``build``, ``install``, ``compile`` or ``prove``.
    :param cause: why, in the words of the tool that failed.
    :param log: the complete log's path; empty when there is none yet.
    :param of: the distribution that is built; empty in other phases.
    """

    def __init__(  # noqa: PLR0913 - what an error says, each by name
        self,
        cause: str,
        *,
        components: tuple[str, ...],
        key: str,
        phase: str,
        log: str,
        todo: str | None = None,
        of: str = "",
    ) -> None:
        self.cause, self.components, self.key, self.phase, self.log = cause, components, key, phase, log
        self.of = of
        advice = "; ".join(filter(None, (todo, f"complete log: {log}" if log else "")))
        what = f"{phase} of {of} failed" if of else f"{phase} failed"
        super().__init__(f"{what}: {cause}", where=_names(components) or key, todo=advice or None)


class FetchFailed(BuildFailed):
    """A source could not be fetched: refused, not there, cut off, or the network is out of reach."""


class HashMismatch(BuildFailed):
    """What was fetched or found is not what the lock pins."""


class NotCached(BuildFailed):
    """Something is needed from the network, and the run is offline."""


class SourceMissing(BuildFailed):
    """A local source, file or directory is not there."""


class SourceChanged(BuildFailed):
    """A local source changed between planning and building."""


class WrongWheel(BuildFailed):
    """A build gave another distribution than the lock says."""


class LateMissing(BuildFailed):
    """A package that a later image stage brings is needed now."""


class ProofRejected(BuildFailed):
    """What was installed is not what the recipe says, also after a second attempt."""


class DiskFull(BuildFailed):
    """The disk, its inodes or a quota are used up."""


class UvKilled(BuildFailed):
    """A build's process was ended by a signal from outside."""


class LockingFailed(FailedError):
    """A source's requirements could not be locked.

    :param cause: why, in uv's words.
    :param output: the end of uv's output, credentials masked.
    """

    def __init__(
        self, cause: str, *, component: str, source: str, output: tuple[str, ...] = (), log: str | None = None
    ) -> None:
        self.cause, self.component, self.source = cause, component, source
        self.output, self.log = output, log
        where = f"{component} {source}" if component else source
        super().__init__(f"lock failed: {cause}", where=where, todo=f"complete log: {log}" if log else None)
