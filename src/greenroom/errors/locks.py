"""Errors of locked data and of what is chosen from it."""

from __future__ import annotations

from greenroom.errors.root import UseError, use_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AmbiguousLock",
    "BuildNeedsRuntime",
    "BuildOrderLoop",
    "ExtraNotProvided",
    "ExtrasConflict",
    "HostVersionUnknown",
    "LockMissing",
    "LockNeedsPython",
    "LockTooNew",
    "LockUnreadable",
    "MissingHash",
    "NoMatchingFile",
    "NotALockName",
    "PlatformNotLocked",
    "RequirementsUnreadable",
    "SecretInSource",
    "StaleLock",
    "UnknownExtra",
    "UnknownGroup",
    "UnknownMember",
]


class LockMissing(UseError):
    """A source has no lock yet."""

    def __init__(self, file: str, *, where: str, todo: str) -> None:
        self.file = file
        super().__init__(f"there is no {file}", where=where, todo=todo)


class LockUnreadable(UseError):
    """A lock, or a file that it is made from, cannot be read or parsed."""

    def __init__(self, file: str, reason: str, *, line: int = 0, todo: str | None = None) -> None:
        self.file, self.reason, self.line = file, reason, line
        where = f"{file}:{line}" if line else file
        super().__init__(f"cannot be read: {reason}", where=where, todo=todo)


class LockTooNew(UseError):
    """A lock has a format of a later date than this greenroom knows."""

    def __init__(self, file: str, version: str, known: str) -> None:
        self.file, self.version, self.known = file, version, known
        super().__init__(
            f"the lock has format {version}, this greenroom reads {known}",
            where=file,
            todo="install a newer greenroom",
        )


class NotALockName(UseError):
    """A PEP 751 lock has a name that installers refuse."""

    def __init__(self, file: str, *, where: str) -> None:
        self.file = file
        super().__init__(
            f"{file} is not named as a lock", where=where, todo="name it pylock.toml or pylock.<name>.toml"
        )


class StaleLock(UseError):
    """What a lock was made from has changed since."""

    def __init__(self, file: str, differences: Iterable[str], *, todo: str) -> None:
        self.file, self.differences = file, tuple(differences)
        shown = "; ".join(self.differences[:5])
        more = len(self.differences) - 5
        shown = f"{shown}; and {more} more" if more > 0 else shown
        super().__init__(f"the lock is out of date: {shown}", where=file, todo=todo)


class UnknownExtra(UseError):
    """An extra is asked for that the source does not declare."""

    def __init__(self, extra: str, *, known: Iterable[str], of: str, where: str) -> None:
        self.extra, self.known, self.of = extra, tuple(known), of
        super().__init__(
            f"extra {extra!r} is not declared by {of}", where=where, todo=use_one_of(extra, self.known)
        )


class UnknownGroup(UseError):
    """A dependency group is asked for that the source does not declare."""

    def __init__(self, group: str, *, known: Iterable[str], of: str, where: str) -> None:
        self.group, self.known, self.of = group, tuple(known), of
        super().__init__(
            f"dependency group {group!r} is not declared by {of}",
            where=where,
            todo=use_one_of(group, self.known),
        )


class UnknownMember(UseError):
    """A package is asked for that is no member of the workspace."""

    def __init__(self, package: str, *, known: Iterable[str], where: str) -> None:
        self.package, self.known = package, tuple(known)
        super().__init__(
            f"{package!r} is no member of the workspace", where=where, todo=use_one_of(package, self.known)
        )


class ExtrasConflict(UseError):
    """Extras or groups are asked for together that the project declares as conflicting.

    :param asked: what the component asks for.
    :param conflict: the members of the declared set that would be active.
    :param declared: the whole declared set.
    :param through: how a member that is not the project itself comes in.
    """

    def __init__(
        self,
        asked: Iterable[str],
        *,
        conflict: Iterable[str],
        declared: Iterable[str],
        through: Iterable[str],
        file: str,
        where: str,
    ) -> None:
        self.asked, self.conflict, self.declared = tuple(asked), tuple(conflict), tuple(declared)
        self.through, self.file = tuple(through), file
        how = f"; {'; '.join(self.through)}" if self.through else ""
        super().__init__(
            f"{' + '.join(self.asked) or 'no extras'} cannot be installed: {' and '.join(self.conflict)}"
            f" are declared as conflicting {{{', '.join(self.declared)}}} in {file}{how}",
            where=where,
            todo="ask for one of them only",
        )


class LockNeedsPython(UseError):
    """A lock is for other versions of Python than the interpreter's."""

    def __init__(self, file: str, requires: str, *, version: str, path: str) -> None:
        self.file, self.requires, self.version, self.path = file, requires, version, path
        super().__init__(
            f"the lock is for Python {requires}, {path} is {version}",
            where=file,
            todo="declare `python` for it, or use a driver that the lock admits",
        )


class PlatformNotLocked(UseError):
    """A lock does not cover this platform."""

    def __init__(self, file: str, supported: Iterable[str], *, platform: str) -> None:
        self.file, self.supported, self.platform = file, tuple(supported), platform
        super().__init__(
            f"the lock does not cover {platform}: it is for {' or '.join(self.supported)}",
            where=file,
            todo="lock for this platform too (`environments` of [tool.uv])",
        )


class AmbiguousLock(UseError):
    """A lock gives two candidates for one package, or none where one is needed."""

    def __init__(self, file: str, package: str, found: Iterable[str]) -> None:
        self.file, self.package, self.found = file, package, tuple(found)
        shown = " and ".join(self.found) or "no candidate"
        super().__init__(f"the lock gives {shown} for {package}", where=file, todo="lock again")


class SecretInSource(UseError):
    """A credential stands in a file that is committed and copied; the message never repeats it."""

    def __init__(self, file: str, line: int, *, todo: str | None = None) -> None:
        self.file, self.line = file, line
        super().__init__(
            "a URL holds a credential",
            where=f"{file}:{line}" if line else file,
            todo=todo
            or "take it out, give it by UV_INDEX_<NAME>_USERNAME and UV_INDEX_<NAME>_PASSWORD or a netrc"
            " file, lock again, and replace the credential",
        )


class RequirementsUnreadable(UseError):
    """A requirements file is missing, includes itself, or has a line that means nothing."""


class ExtraNotProvided(UseError):
    """A requirement asks a package for an extra that it does not have."""

    def __init__(self, package: str, version: str | None, extra: str, *, where: str) -> None:
        self.package, self.version, self.extra = package, version, extra
        super().__init__(
            f"{package} {version or ''} has no extra {extra!r}",
            where=where,
            todo="correct the extra's name, or take it out",
        )


class HostVersionUnknown(UseError):
    """A host project is required by a path at which it is not, and no installed version can stand for it."""

    def __init__(self, name: str, path: str, driver: str, *, where: str) -> None:
        self.name, self.path, self.driver = name, path, driver
        super().__init__(
            f"{name} is not at {path}, and not installed beside {driver}, so its version cannot be told",
            where=where,
            todo=f'install {name} there, or say [host] version = "…" in the declaration',
        )


class MissingHash(UseError):
    """A lock pins a file without its hash, so its content cannot be known."""

    def __init__(self, name: str, version: str | None, *, file: str, where: str) -> None:
        self.name, self.version, self.file = name, version, file
        super().__init__(
            f"{name} {version or ''} ({file}) has no sha256 in the lock",
            where=where,
            todo="use an index that gives hashes, or lock again",
        )


class NoMatchingFile(UseError):
    """A distribution has no file that can be installed on this target."""

    def __init__(
        self, name: str, version: str | None, *, tags: Iterable[str], target: str, where: str, why: str = ""
    ) -> None:
        self.name, self.version, self.tags, self.target, self.why = name, version, tuple(tags), target, why
        shown = ", ".join(self.tags[:6])
        more = len(self.tags) - 6
        shown = f"{shown} and {more} more" if more > 0 else shown
        there = f"there are wheels for {shown}" if self.tags else "the lock has no file"
        super().__init__(
            f"{name} {version or ''} has nothing to install for {target}: {why or there}",
            where=where,
            todo="use an interpreter or a platform that it supports, or another version of it",
        )


class BuildOrderLoop(UseError):
    """Packages built without isolation need each other first."""

    def __init__(self, packages: Iterable[str], *, where: str) -> None:
        self.packages = tuple(packages)
        super().__init__(
            f"built without isolation, each needs the next: {' → '.join(self.packages)}",
            where=where,
            todo="declare their order in no-build-isolation",
        )


class BuildNeedsRuntime(UseError):
    """A build is to follow the environment's own version of a package that is not in it."""

    def __init__(self, name: str, requirement: str, *, where: str) -> None:
        self.name, self.requirement = name, requirement
        super().__init__(
            f"the build of {name} follows the environment's {requirement}, which is not in it",
            where=where,
            todo=f"add {requirement} to the environment, or take match-runtime away",
        )
