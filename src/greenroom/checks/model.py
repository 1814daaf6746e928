"""What a check finds, as frozen data, and how equal findings become one."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.errors import GreenroomError, Problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Finding", "Severity", "from_error", "merged"]

_PLACES = 3
"""How many places are named when one cause stands in several."""


class Severity:
    """How much a finding matters, as words for people and JSON."""

    ERROR = "error"
    """A build, a launch or the cluster would fail."""
    WARNING = "warning"
    """Something works, and probably not as it is meant."""
    NOTE = "note"
    """What is worth knowing, or cannot be known here."""


_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One cause, said once, with every component that it touches."""

    check: str
    """The name of the check that found it, for example ``extras``."""
    severity: str
    """One of the words of :class:`Severity`."""
    what: str
    where: str | None = None
    todo: str | None = None
    components: tuple[str, ...] = ()
    """Names, in the declaration's order; empty when it concerns no component in particular."""

    @property
    def is_error(self) -> bool:
        """Whether something would fail."""
        return self.severity == Severity.ERROR


def from_error(
    check: str, error: GreenroomError, components: Iterable[str] = (), *, severity: str = Severity.ERROR
) -> Iterator[Finding]:
    """Yield an error as a finding; several errors in one as several findings."""
    names = tuple(components)
    for each in error.errors if isinstance(error, Problems) else (error,):
        yield Finding(
            check=check, severity=severity, what=each.what, where=each.where, todo=each.todo, components=names
        )


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with each cause once: those that differ in place and components only are one.

    :returns: errors first, then warnings, then notes; among them in the given order.
    """
    groups: dict[tuple[str, str, str, str | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.check, finding.severity, finding.what, finding.todo), []).append(finding)
    joined = (_joined(group) for group in groups.values())
    return tuple(sorted(joined, key=lambda finding: _ORDER.index(finding.severity)))


def _joined(group: list[Finding]) -> Finding:
    first = group[0]
    places = list(dict.fromkeys(finding.where for finding in group if finding.where))
    more = len(places) - _PLACES
    where = ", ".join(places[:_PLACES]) + (f" and {more} more" if more > 0 else "")
    names = dict.fromkeys(name for finding in group for name in finding.components)
    return Finding(
        check=first.check,
        severity=first.severity,
        what=first.what,
        where=where or None,
        todo=first.todo,
        components=tuple(names),
    )
