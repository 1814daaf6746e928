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

# uv and interpreters

# locks and recipes

# store

# builder

# project and command
