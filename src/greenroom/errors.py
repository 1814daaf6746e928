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


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known spelling nearest to ``name``, or None when none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only when something is wrong

    found = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def use_one_of(name: str, known: Iterable[str]) -> str:
    """Return what to do about an unknown name: the nearest spelling, else the list."""
    names = sorted(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(names)}" if names else "none is declared"


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
        super().__init__(_without_userinfo(what), where=where, todo=todo and _without_userinfo(todo))


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
    """A name is used that nothing declares: an extra, group, stage, environment, index, actor …"""

    def __init__(self, kind: str, name: str, *, known: Iterable[str], where: str) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"unknown {kind} {name!r}", where=where, todo=use_one_of(name, self.known))


class DuplicateName(DeclarationError):
    """One name stands for two things."""

    def __init__(self, kind: str, name: str, *, where: str, first: str) -> None:
        self.kind, self.name, self.first = kind, name, first
        super().__init__(f"{kind} {name!r} is declared twice", where=where, todo=f"first at {first}")


class ConflictingKeys(DeclarationError):
    """Keys that exclude each other stand in one table."""


class RefusedValue(DeclarationError):
    """A value of the right type that cannot work, with the reason."""


class SecretInDeclaration(DeclarationError):
    """A URL in the declaration holds credentials; the message never repeats them."""


class ServerDirectoryInvalid(DeclarationError):
    """A server's directory does not say, or says twice, what the server needs."""


def _without_userinfo(text: str) -> str:
    if "@" not in text:
        return text
    import re  # noqa: PLC0415 - only when something is wrong

    return re.sub(r"(?<=//)[^/@\s'\"]*(?:@[^/@\s'\"]*)*@", "***@", text)


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

    def __init__(self, request: str, *, origin: str | None, looked: Iterable[str], todo: str | None = None) -> None:
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

# store

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
