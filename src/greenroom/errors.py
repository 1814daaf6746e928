"""Every error that a user of greenroom can meet.

One tree. Each middle class stands for one exit status of the command; each leaf is named
for a fact and writes its own sentence from typed facts, so that callers pass facts only::

    GreenroomError
        FailedError           status 1: a build, a proof or a check failed
        UseError              status 2: wrong use or declaration
        NotReadyError         status 3: an environment is not there yet
        InterruptedRunError   status 130: stopped by Ctrl-C

``str()`` of each is one line: where, what, what to do. All survive pickling, because Ray
carries them between processes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.store.model import Clash, Finding

__all__ = [
    "AliasRefused",
    "AmbiguousLock",
    "AmbiguousName",
    "BuildFailed",
    "BuildNeedsRuntime",
    "BuildOrderLoop",
    "ClashError",
    "CommandMissing",
    "CommandNotFound",
    "CommandNotStarted",
    "CompileFailed",
    "ConflictingKeys",
    "CopyRefused",
    "DeclarationError",
    "DeclarationExists",
    "DeclarationNotFound",
    "DeclarationNotWritten",
    "DirectoryVanished",
    "DiskFull",
    "DuplicateName",
    "EnvFileInvalid",
    "EnvironmentDamaged",
    "EnvironmentGone",
    "EnvironmentInUse",
    "EnvironmentMissing",
    "ExtraNotProvided",
    "ExtrasConflict",
    "FailedError",
    "FetchFailed",
    "GreenroomError",
    "GroupEnded",
    "HashMismatch",
    "InterruptedRunError",
    "LateMissing",
    "LockBusy",
    "LockMissing",
    "LockNeedsPython",
    "LockOutdated",
    "LockTooNew",
    "LockUnreadable",
    "LockingFailed",
    "LocksUnsupported",
    "LogMissing",
    "MissingHash",
    "NoEnvironment",
    "NoMatchingFile",
    "NoStoreWritable",
    "NotALockName",
    "NotCached",
    "NotLiteral",
    "NotReadyError",
    "PlatformNotLocked",
    "Problems",
    "ProgramNotStarted",
    "ProofFailed",
    "ProofRejected",
    "PythonBroken",
    "PythonNotFound",
    "PythonTooOld",
    "RecordUnreadable",
    "RefusedValue",
    "RequirementsUnreadable",
    "SecretInDeclaration",
    "SecretInSource",
    "ServerDirectoryInvalid",
    "ServiceInvalid",
    "SettingsUnreadable",
    "SourceChanged",
    "SourceMissing",
    "StaleLock",
    "StoreFailed",
    "StorePathRefused",
    "UnknownComponent",
    "UnknownExtra",
    "UnknownGroup",
    "UnknownKey",
    "UnknownMember",
    "UnknownName",
    "UnknownOption",
    "UnreadableDeclaration",
    "UseError",
    "UvBroken",
    "UvKilled",
    "UvMissing",
    "UvTooOld",
    "WrongType",
    "WrongWheel",
    "nearest",
    "use_one_of",
]


_SHOWN = 20
"""Names that an error lists at most."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known spelling nearest to ``name``, or None when none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only when something is wrong

    names = list(known)
    same = [each for each in names if each.casefold() == name.casefold()]
    found = same or get_close_matches(name, names, n=1, cutoff=0.6)
    return found[0] if found else None


def use_one_of(name: str, known: Iterable[str]) -> str:
    """Return what to do about an unknown name: the nearest spelling, else the list."""
    names = sorted(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    if not names:
        return "none is declared"
    more = len(names) - _SHOWN
    return f"known: {', '.join(names[:_SHOWN])}" + (f" and {more} more" if more > 0 else "")


class GreenroomError(Exception):
    """Anything that a user can cause or must know.

    :param what: the fact, one line, no full stop.
    :param where: file, line and key, or component and phase.
    :param todo: what to type or change next.
    """

    status = 1

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        self.what = what
        self.where = where
        self.todo = todo
        super().__init__(what)

    def __str__(self) -> str:
        """Return one line: where, what, what to do."""
        line = f"{self.where}: {self.what}" if self.where else self.what
        line = f"{line} ({self.todo})" if self.todo else line
        return " ".join(line.split())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by state: leaves have signatures of their own."""
        return (_revive, (type(self), self.args, self.__dict__.copy()))


def _revive(cls: type[GreenroomError], args: tuple[object, ...], state: dict[str, object]) -> GreenroomError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class FailedError(GreenroomError):
    """A build, a proof or a check failed."""

    status = 1


class UseError(GreenroomError):
    """The command, the declaration or an input is wrong."""

    status = 2


class NotReadyError(GreenroomError):
    """An environment is not ready to be launched."""

    status = 3


class InterruptedRunError(GreenroomError):
    """The run was stopped by Ctrl-C; nothing incomplete counts as ready."""

    status = 130


# --- leaves: one section for each part, in the order of the data ---


class Problems(UseError):
    """Several errors of one run, said all at once."""

    def __init__(self, errors: Iterable[GreenroomError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(str(error) for error in self.errors))
        self.status = max((error.status for error in self.errors), default=2)

    def lines(self) -> tuple[str, ...]:
        """Return one line for each error."""
        return tuple(str(error) for error in self.errors)


# declaration


class DeclarationNotFound(UseError):
    """No directory from the start upwards holds a declaration."""

    def __init__(self, start: str) -> None:
        self.start = start
        super().__init__(
            "no greenroom.toml and no [tool.greenroom] in a pyproject.toml here or above",
            where=start,
            todo="write one with `greenroom init`, or name its directory with --project",
        )


class DeclarationError(UseError):
    """The declaration says something that cannot be meant.

    Whatever it quotes of the declaration, the user part of a URL is left out.
    """

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(
            _without_userinfo(what),
            where=where and _without_userinfo(where),
            todo=todo and _without_userinfo(todo),
        )


class UnreadableDeclaration(DeclarationError):
    """A file of the declaration cannot be read or parsed."""


class NotLiteral(DeclarationError):
    """A Python registry's table is more than a literal, and so would have to be executed."""


class UnknownKey(DeclarationError):
    """A table of the declaration has a key that means nothing."""

    def __init__(self, key: str, *, known: Iterable[str], where: str) -> None:
        self.key, self.known = key, tuple(known)
        super().__init__(f"unknown key {key!r}", where=where, todo=use_one_of(key, self.known))


class WrongType(DeclarationError):
    """A value of the declaration has another type than its key takes."""

    def __init__(self, expected: str, found: str, *, where: str) -> None:
        self.expected, self.found = expected, found
        super().__init__(f"expected {expected}, found {found}", where=where)


class UnknownName(DeclarationError):
    """A name is used that nothing declares: a server, environment or index."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str], where: str) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"unknown {kind} {name!r}", where=where, todo=use_one_of(name, self.known))


class DuplicateName(DeclarationError):
    """One name stands for two things."""

    def __init__(self, kind: str, name: str, *, where: str, first: str) -> None:
        self.kind, self.name, self.first = kind, name, first
        super().__init__(f"{kind} {name!r} is declared twice", where=where, todo=f"first at {first}")


class AmbiguousName(DeclarationError):
    """A table under ``[actors]`` is partly an actor's and partly a piece of a dotted name."""


class ConflictingKeys(DeclarationError):
    """Keys that exclude each other stand in one table."""


class RefusedValue(DeclarationError):
    """A value of the right type that cannot work, with the reason."""


class SecretInDeclaration(DeclarationError):
    """A URL in the declaration holds credentials; the message never repeats them."""


class ServerDirectoryInvalid(DeclarationError):
    """A server's directory does not say, or says twice, what the server needs."""


class ServiceInvalid(DeclarationError):
    """A server's table asks for a way of running that cannot be."""


class DeclarationExists(UseError):
    """A first declaration is to be written where one is."""

    def __init__(self, file: str) -> None:
        self.file = file
        super().__init__("there is a declaration already", where=file, todo="change it, or remove it first")


class DeclarationNotWritten(FailedError):
    """A first declaration cannot be written."""

    def __init__(self, file: str, reason: str) -> None:
        self.file, self.reason = file, reason
        super().__init__(f"cannot be written: {reason}", where=file)


def _without_userinfo(text: str) -> str:
    if "@" not in text:
        return text
    import re  # noqa: PLC0415 - only when something is wrong

    return re.sub(r"(?<=:/)(/?)[^/\s'\"]*@", r"\1***@", text)


# uv and interpreters


class UvMissing(UseError):
    """No uv where greenroom looks for it."""

    def __init__(self, looked: Iterable[str], *, named: str | None = None) -> None:
        self.looked, self.named = tuple(looked), named
        what = (
            f"GREENROOM_UV names {named}, which is not an executable file"
            if named is not None
            else f"no uv found in {', '.join(self.looked)}"
        )
        todo = "correct or unset GREENROOM_UV" if named is not None else "pip install uv, or set GREENROOM_UV"
        super().__init__(what, todo=todo)


class UvTooOld(UseError):
    """This uv lacks behaviour that greenroom relies on."""

    def __init__(self, path: str, version: str, floor: str) -> None:
        self.path, self.version, self.floor = path, version, floor
        super().__init__(
            f"{path} is uv {version}, at least {floor} is needed",
            todo=f"pip install 'uv>={floor}', or let GREENROOM_UV name a newer one",
        )


class UvBroken(UseError):
    """What was found as uv does not answer as uv does."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} does not work as uv: {reason}", todo="install uv anew, or set GREENROOM_UV")


class SettingsUnreadable(UseError):
    """A user-wide or machine-wide uv.toml cannot be read."""

    def __init__(self, file: str, reason: str) -> None:
        self.file, self.reason = file, reason
        super().__init__(f"cannot be read: {reason}", where=file, todo="correct the file or move it away")


class GroupEnded(FailedError):
    """A process was to be started in a group that was ended, by Ctrl-C for example."""

    def __init__(self, program: str) -> None:
        self.program = program
        super().__init__(f"{program} was not started: the run was ended")


class ProgramNotStarted(FailedError):
    """A program cannot be started."""

    def __init__(self, program: str, reason: str) -> None:
        self.program, self.reason = program, reason
        super().__init__(f"cannot start {program}: {reason}")


class PythonNotFound(UseError):
    """No interpreter here satisfies a request."""

    def __init__(
        self, request: str, *, origin: str | None, looked: Iterable[str], todo: str | None = None
    ) -> None:
        self.request, self.looked = request, tuple(looked)
        seen = f"; looked at {', '.join(self.looked)}" if self.looked else ""
        super().__init__(
            f"no Python here satisfies {request!r}{seen}",
            where=origin,
            todo=todo or "install one, name its path in `pythons`, or set python-downloads = true",
        )


class PythonBroken(UseError):
    """An interpreter does not say what it is."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the interpreter {path} cannot be used: {reason}", todo="name another interpreter")


class PythonTooOld(UseError):
    """An interpreter is older than environments can be built for."""

    def __init__(self, path: str, version: str, minimum: str) -> None:
        self.path, self.version, self.minimum = path, version, minimum
        super().__init__(
            f"the interpreter {path} is Python {version}, at least {minimum} is needed",
            todo="request or name a newer interpreter",
        )


# locks and recipes


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
            or "take it out, give it by UV_INDEX_<NAME>_USERNAME and UV_INDEX_<NAME>_PASSWORD or a netrc file,"
            " lock again, and replace the credential",
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


# store


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

    def __init__(self, path: str, reason: str, *, newer: bool = False) -> None:
        self.path, self.reason, self.newer = path, reason, newer
        todo = "update greenroom" if newer else "greenroom sync builds it anew"
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


class CopyRefused(UseError):
    """A writable copy cannot be made there."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"no copy is made here: {reason}", where=path, todo="name another directory")


# builder


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
    """

    def __init__(
        self,
        cause: str,
        *,
        components: tuple[str, ...],
        key: str,
        phase: str,
        log: str,
        todo: str | None = None,
    ) -> None:
        self.cause, self.components, self.key, self.phase, self.log = cause, components, key, phase, log
        advice = "; ".join(filter(None, (todo, f"complete log: {log}" if log else "")))
        super().__init__(f"{phase} failed: {cause}", where=_names(components) or key, todo=advice or None)


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


# project and command


class UnknownComponent(UseError):
    """A name that the declaration does not hold."""

    def __init__(self, name: str, *, known: Iterable[str], declaration: str) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(
            f"no component is named {name!r}", where=declaration, todo=use_one_of(name, self.known)
        )


class NoEnvironment(UseError):
    """A question about the environment of a component that has none."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        super().__init__(f"runs on the driver's interpreter {path} and has no environment", where=name)


class EnvironmentMissing(NotReadyError):
    """A component's environment is not built."""

    def __init__(self, name: str, *, reason: str = "is not built") -> None:
        self.name, self.reason = name, reason
        super().__init__(f"the environment {reason}", where=name, todo=f"greenroom sync {name}")


class EnvironmentDamaged(NotReadyError):
    """A component's environment stands in the store, and cannot be used as it is."""

    def __init__(self, name: str, *, reason: str, path: str) -> None:
        self.name, self.reason, self.path = name, reason, path
        super().__init__(
            f"the environment is damaged: {reason}", where=name, todo=f"greenroom sync {name} builds it anew"
        )


class CommandMissing(UseError):
    """``greenroom run`` without anything to run."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__("nothing to run", where=name, todo=f"greenroom run {name} -- python app.py")


class CommandNotFound(UseError):
    """What is to be run is neither in the environment nor on PATH."""

    def __init__(self, program: str) -> None:
        self.program = program
        super().__init__(
            f"no program {program!r} in the environment's bin or on PATH",
            todo="add the package that brings it to the component's requirements",
        )


class CommandNotStarted(UseError):
    """The system refuses to start a program."""

    def __init__(self, program: str, reason: str) -> None:
        self.program, self.reason = program, reason
        super().__init__(
            f"{program} cannot be started: {reason}", todo="see that it is an executable program"
        )


class EnvFileInvalid(UseError):
    """An ``env-file`` that cannot be read or holds something else than variables."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        self.file, self.line, self.reason = file, line, reason
        super().__init__(
            reason, where=f"{file}:{line}" if line else file, todo="write NAME=value on each line"
        )


class DirectoryVanished(UseError):
    """The working directory was removed."""

    def __init__(self) -> None:
        super().__init__(
            "the working directory does not exist any more", todo="cd elsewhere, or use --project DIR"
        )


class LockOutdated(UseError):
    """``--locked`` forbids to write a lock that is missing or out of date."""

    def __init__(self, component: str, file: str, reason: str) -> None:
        self.component, self.file, self.reason = component, file, reason
        super().__init__(f"{file} {reason}", where=component, todo=f"greenroom lock {component}")


class LogMissing(UseError):
    """No log of a build is kept for a component."""

    def __init__(self, name: str, directory: str) -> None:
        self.name, self.directory = name, directory
        super().__init__(
            f"no log of a build is kept in {directory}", where=name, todo=f"greenroom sync {name}"
        )


class UnknownOption(UseError):
    """A word of the command line that is not understood."""

    def __init__(self, what: str, *, command: str) -> None:
        self.command = command
        super().__init__(what, todo=f"greenroom {command} --help" if command else "greenroom --help")
