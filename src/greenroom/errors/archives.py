"""Errors of moving environments: archives that are written, read, fetched and put somewhere."""

from __future__ import annotations

from greenroom.errors.root import FailedError, NotReadyError, UseError

__all__ = [
    "ArchiveAbsent",
    "ArchiveForeign",
    "ArchiveRefused",
    "PackRefused",
    "PlaceFailed",
    "PlaceRefused",
]


class PackRefused(NotReadyError):
    """An environment cannot be packed: it is not ready, or holds what no archive can."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"it cannot be packed: {reason}", where=path, todo="greenroom verify --repair")


class ArchiveRefused(FailedError):
    """An archive is damaged, cut off, or names what may not be written; nothing of it is left."""

    def __init__(self, source: str, reason: str) -> None:
        self.source, self.reason = source, reason
        super().__init__(f"the archive is refused: {reason}", where=source, todo="pack or fetch it anew")


class ArchiveForeign(FailedError):
    """An archive's environment cannot run here: another machine, interpreter, or local sources elsewhere."""

    def __init__(self, source: str, reason: str) -> None:
        self.source, self.reason = source, reason
        super().__init__(
            f"the archive is not for this machine: {reason}",
            where=source,
            todo="greenroom sync builds the environment here",
        )


class ArchiveAbsent(NotReadyError):
    """No archive of an environment is where it was looked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__("there is no such archive", where=url, todo="greenroom push puts it there")


class PlaceRefused(UseError):
    """A place for archives cannot be used: not a URL, an unknown scheme, or a library is missing."""

    def __init__(self, url: str, reason: str, *, todo: str | None = None) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"archives cannot be kept there: {reason}", where=url, todo=todo)


class PlaceFailed(FailedError):
    """A place for archives did not answer, or refused."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(reason, where=url, todo="look whether it can be reached from here, with this login")
