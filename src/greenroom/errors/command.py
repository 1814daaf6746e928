"""Errors of a project and of the command: names, launches, options."""

from __future__ import annotations

from greenroom.errors.root import NotReadyError, UseError, use_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CommandMissing",
    "CommandNotFound",
    "CommandNotStarted",
    "DirectoryVanished",
    "EnvFileInvalid",
    "EnvironmentDamaged",
    "EnvironmentMissing",
    "LockOutdated",
    "LogMissing",
    "NoEnvironment",
    "UnknownComponent",
    "UnknownOption",
]


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

    def __init__(self, name: str, *, reason: str = "is not built", todo: str | None = None) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"the environment {reason}", where=name, todo=todo or f"greenroom sync {name}")


class EnvironmentDamaged(NotReadyError):
    """A component's environment stands in the store, and cannot be used as it is."""

    def __init__(self, name: str, *, reason: str, path: str) -> None:
        self.name, self.reason, self.path = name, reason, path
        super().__init__(f"the environment is damaged: {reason}", where=name, todo=f"greenroom sync {name}")


class CommandMissing(UseError):
    """``greenroom run`` without anything to run, or with a declared command that only ``up`` can complete."""

    def __init__(self, name: str, *, places: Iterable[str] = ()) -> None:
        self.name, self.places = name, tuple(places)
        needs = ", ".join(f"{{{place}}}" for place in self.places)
        super().__init__(
            f"its command has {needs}, which is known when it is started as a server"
            if needs
            else "nothing to run",
            where=name,
            todo=f"greenroom up {name}" if needs else f"greenroom run {name} -- python app.py",
        )


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
