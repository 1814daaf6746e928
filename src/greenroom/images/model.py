"""What a stage did and what an image was frozen with, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from greenroom.components import Pairs
from greenroom.project.model import Problem

__all__ = ["Done", "Frozen", "FrozenEnvironment", "Report", "Source"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A local source whose files decide something."""

    name: str
    path: str
    kind: str
    """``metadata``: of an editable; ``tree``: everything counts."""
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenEnvironment:
    """One environment of the image."""

    key: str
    components: tuple[str, ...]
    state: str
    stages: tuple[str, ...]
    """Those that bring something, in their order."""
    pending: tuple[str, ...] = ()
    uv: str = ""
    """The version of uv that installed it last."""
    late: Pairs = ()
    """Late package -> sha256 of the wheel that its stage brought: the key does not tell it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """An image's fingerprint."""

    schema: int
    greenroom: str
    platform: str
    declaration: str
    store: str
    stages: tuple[str, ...]
    environments: tuple[FrozenEnvironment, ...]
    inputs: tuple[tuple[str, str | None], ...]
    """File -> sha256 of its content; None: it was absent."""
    sources: tuple[Source, ...]
    variables: tuple[tuple[str, str | None], ...]
    """Variable that decides something -> sha256 of its value; None: it was not set."""

    @property
    def fingerprint(self) -> str:
        """Return one text that two images with the same content have in common."""
        parts = [self.platform, *self.stages]
        for found in self.environments:
            parts += [found.key, found.state, *found.pending, *(f"{name}@{at}" for name, at in found.late)]
        return sha256("\n".join(parts).encode()).hexdigest()
