"""What a stage did, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.project.model import Problem

__all__ = ["Done", "Report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One environment after a stage."""

    key: str
    components: tuple[str, ...]
    action: str
    """``ready``, ``built``, ``continued``, ``unchanged``, ``later`` or ``failed``."""
    state: str
    brought: tuple[str, ...] = ()
    """Distributions that this stage added to a partial environment."""
    pending: tuple[str, ...] = ()
    """Distributions that are still to come."""
    waits_for: tuple[str, ...] = ()
    """The stages that bring them, in their order."""
    missed: tuple[str, ...] = ()
    """Those of them that are before this stage: they were skipped."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What ``image sync`` did."""

    stage: str
    environments: tuple[Done, ...]
    skipped: tuple[tuple[str, str], ...]
    """Component -> the extra by which it was skipped."""
    failed: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    linked: int = 0
    """Files that were linked between environments of this stage after they were built."""
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """Return the exit status: that of the worst problem."""
        return max((problem.error.status for problem in (*self.failed, *self.problems)), default=0)
