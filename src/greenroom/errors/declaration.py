"""Errors of a declaration: what was written wrongly, and where."""

from __future__ import annotations

from greenroom.errors.root import FailedError, UseError, use_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AmbiguousName",
    "ConflictingKeys",
    "DeclarationError",
    "DeclarationExists",
    "DeclarationNotFound",
    "DeclarationNotWritten",
    "DuplicateName",
    "NotLiteral",
    "RefusedValue",
    "SecretInDeclaration",
    "ServerDirectoryInvalid",
    "ServiceInvalid",
    "UnknownKey",
    "UnknownName",
    "UnreadableDeclaration",
    "WrongType",
]


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
