"""Say what stopped the way to a recipe, by the check that it belongs to."""

from __future__ import annotations

from greenroom import errors
from greenroom.checks.model import Severity, from_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts
    from greenroom.checks.model import Finding
    from greenroom.errors import GreenroomError

__all__ = ["check", "name_of"]

_NAMES: dict[type[GreenroomError], str] = {
    errors.UnknownExtra: "extras",
    errors.UnknownGroup: "extras",
    errors.UnknownMember: "extras",
    errors.ExtrasConflict: "conflicts",
    errors.LockMissing: "locks",
    errors.LockUnreadable: "locks",
    errors.LockTooNew: "locks",
    errors.NotALockName: "locks",
    errors.StaleLock: "locks",
    errors.AmbiguousLock: "locks",
    errors.PlatformNotLocked: "wheels",
    errors.NoMatchingFile: "wheels",
    errors.MissingHash: "locks",
    errors.LockNeedsPython: "python",
    errors.PythonNotFound: "python",
    errors.PythonBroken: "python",
    errors.PythonTooOld: "python",
    errors.SecretInSource: "secrets",
    errors.StorePathRefused: "store",
}


def check(facts: Facts) -> Iterator[Finding]:
    """Yield every error on the way from the declaration to the recipes."""
    for error in facts.errors:
        yield from from_error(name_of(error), error)
    for wanted in facts.wanted:
        for error in wanted.errors:
            if _own_lock(error):
                error.todo = f"greenroom lock {wanted.names[0]}"  # as people know it, not by its file
            yield from from_error(name_of(error), error, wanted.names, severity=_severity(error))


def name_of(error: GreenroomError) -> str:
    """Return the name of the check that an error belongs to."""
    return next((name for kind, name in _NAMES.items() if isinstance(error, kind)), "sources")


def _severity(error: GreenroomError) -> str:
    # A lock of greenroom's own is written by sync where it is missing or out of date.
    return Severity.WARNING if _own_lock(error) else Severity.ERROR


def _own_lock(error: GreenroomError) -> bool:
    return isinstance(error, errors.LockMissing | errors.StaleLock) and "greenroom.lock" in error.file
