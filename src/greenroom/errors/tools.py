"""Errors of the tools: uv, its processes and settings, interpreters."""

from __future__ import annotations

from greenroom.errors.root import FailedError, UseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "GroupEnded",
    "ProgramNotStarted",
    "PythonBroken",
    "PythonNotFound",
    "PythonTooOld",
    "SettingsUnreadable",
    "UvBroken",
    "UvMissing",
    "UvTooOld",
]


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
            f"the interpreter {request} is missing"
            if request.startswith("/")
            else f"no Python here satisfies {request!r}{seen}",
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
