"""Errors of the store: paths, records, locks, proofs, aliases."""

from __future__ import annotations

from greenroom.errors.root import FailedError, NotReadyError, UseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.store.model import Clash, Finding

__all__ = [
    "AliasRefused",
    "ClashError",
    "CompileFailed",
    "CopyRefused",
    "EnvironmentGone",
    "EnvironmentInUse",
    "LockBusy",
    "LocksUnsupported",
    "LogUnreadable",
    "NoStoreWritable",
    "ProofFailed",
    "RecordUnreadable",
    "StoreFailed",
    "StorePathRefused",
]


class StorePathRefused(UseError):
    """A path that cannot hold a store, with the reason."""

    def __init__(self, path: str, reason: str, *, origin: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"the store path {path!r} is refused: {reason}",
            where=origin,
            todo="let GREENROOM_STORE name another directory",
        )


class NoStoreWritable(FailedError):
    """Every store is read-only, and something is to be built."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = tuple(paths)
        super().__init__(
            f"no store is writable: {', '.join(self.paths)}",
            todo="let GREENROOM_STORE name a writable directory first",
        )


class StoreFailed(FailedError):
    """The operating system refused a step in the store."""

    def __init__(self, step: str, path: str, reason: str, *, todo: str | None = None) -> None:
        self.step, self.path, self.reason = step, path, reason
        super().__init__(f"cannot {step}: {reason}", where=path, todo=todo)

    @classmethod
    def of(cls, step: str, path: str, error: OSError) -> StoreFailed:
        """Return the error for a failed system call, with what helps against the usual causes."""
        import errno  # noqa: PLC0415 - only when something is wrong

        todo = {
            errno.ENOSPC: "free space or inodes (greenroom gc), or let GREENROOM_STORE name another disk",
            errno.EDQUOT: "free space or inodes (greenroom gc), or let GREENROOM_STORE name another disk",
            errno.EROFS: "let GREENROOM_STORE name a writable directory first",
            errno.EACCES: "let GREENROOM_STORE name a directory of your own first",
            errno.EPERM: "let GREENROOM_STORE name a directory of your own first",
            errno.ENAMETOOLONG: "let GREENROOM_STORE name a shorter path",
        }.get(error.errno or 0)
        return cls(step, path, error.strerror or type(error).__name__, todo=todo)


class LocksUnsupported(FailedError):
    """Locks of this file system do not exclude, so two builds of one environment could run at once."""

    def __init__(self, path: str, *, filesystem: str, mount: str, reason: str) -> None:
        self.path, self.filesystem, self.mount, self.reason = path, filesystem, mount, reason
        super().__init__(
            f"locks do not work on the {filesystem} file system at {mount}: {reason}",
            where=path,
            todo="mount it with working locks, or let GREENROOM_STORE name a directory elsewhere",
        )


class LockBusy(FailedError):
    """Another process holds a lock, and waiting was not wanted."""

    def __init__(self, path: str, holder: str) -> None:
        self.path, self.holder = path, holder
        super().__init__(f"held by {holder}", where=path, todo="try again when it has ended")


class RecordUnreadable(NotReadyError):
    """An environment's record is damaged, or was written by a newer greenroom."""

    def __init__(self, path: str, reason: str, *, newer: bool = False, foreign: bool = False) -> None:
        self.path, self.reason, self.newer, self.foreign = path, reason, newer, foreign
        todo = "update greenroom" if newer else "greenroom sync builds it anew"
        if foreign:
            todo = "give each kind of machine a store of its own (GREENROOM_STORE)"
        super().__init__(f"the record cannot be used: {reason}", where=path, todo=todo)


class EnvironmentGone(NotReadyError):
    """An environment was removed, or is being removed or replaced."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            "the environment was removed or is being replaced", where=path, todo="greenroom sync"
        )


class EnvironmentInUse(FailedError):
    """An environment cannot be replaced: something runs from it."""

    def __init__(self, path: str, users: Iterable[str]) -> None:
        self.path, self.users = path, tuple(users)
        by = ", ".join(self.users) or "a running process"
        super().__init__(f"in use by {by}", where=path, todo="stop it, or use --force")


class ProofFailed(FailedError):
    """What was installed is not what the recipe says."""

    def __init__(self, path: str, findings: Iterable[Finding]) -> None:
        self.path, self.findings = path, tuple(findings)
        self.distributions = tuple(sorted({f.distribution for f in self.findings if f.distribution}))
        first = self.findings[0].text() if self.findings else "nothing was proven"
        more = f" and {len(self.findings) - 1} more" if len(self.findings) > 1 else ""
        super().__init__(f"the proof failed: {first}{more}", where=path)


class ClashError(FailedError):
    """Several distributions bring different files for one path, and no winner is named."""

    def __init__(self, path: str, clashes: Iterable[Clash]) -> None:
        self.path, self.clashes = path, tuple(clashes)
        first = self.clashes[0]
        more = f" and {len(self.clashes) - 1} more files" if len(self.clashes) > 1 else ""
        super().__init__(
            f"{' and '.join(first.owners)} bring different files: {first.path}{more}",
            where=path,
            todo=f"name the winner, for example allow-clash = [{first.owners[-1]!r}]",
        )


class CompileFailed(FailedError):
    """The interpreter that compiles bytecode ended before its work."""

    def __init__(self, interpreter: str, reason: str) -> None:
        self.interpreter, self.reason = interpreter, reason
        super().__init__(f"{interpreter} failed to compile bytecode: {reason}")


class AliasRefused(UseError):
    """What stands where an alias is to go is not an alias."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"no alias is written here: {reason}", where=path, todo="move it away")


class LogUnreadable(FailedError):
    """A build's log is there and cannot be read: it is private to whoever built."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        todo = "it is private to the user who built: ask as that one"
        super().__init__(f"the log cannot be read: {reason}", where=path, todo=todo)


class CopyRefused(UseError):
    """A writable copy cannot be made there."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"no copy is made here: {reason}", where=path, todo="name another directory")
