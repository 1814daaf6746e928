"""The root of the tree, its middle classes, and the words that leaves share."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "FailedError",
    "GreenroomError",
    "InterruptedRunError",
    "NotReadyError",
    "Problems",
    "UseError",
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


class Problems(UseError):
    """Several errors of one run, said all at once."""

    def __init__(self, errors: Iterable[GreenroomError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(str(error) for error in self.errors))
        self.status = max((error.status for error in self.errors), default=2)

    def lines(self) -> tuple[str, ...]:
        """Return one line for each error."""
        return tuple(str(error) for error in self.errors)
