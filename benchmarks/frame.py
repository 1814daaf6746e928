"""Measure two sides alternately and say how they compare.

A benchmark is a function that prepares what it needs in a scratch directory and returns a
:class:`Comparison`. Both sides run in turns, each round in the other order, so that a slow moment
of the machine meets both; what counts is the ratio of the medians from one run.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "AtLeast",
    "AtMost",
    "Comparison",
    "Extra",
    "Result",
    "Samples",
    "Side",
    "Within",
    "command",
    "measure",
    "timed",
]

Measure = Callable[[], float]
"""Do it once and return the figure: seconds from :func:`timed`, or a count or bytes."""
Benchmark = Callable[[Path], "Comparison"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two things that are compared."""

    name: str
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The figures of one side, in the order of the rounds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure that counts."""
        return statistics.median(self.values)


@dataclass(frozen=True, slots=True)
class AtMost:
    """Ours costs at most so many times the other."""

    ratio: float

    def met(self, ours: float, other: float | None) -> bool:
        """Tell whether the goal is reached."""
        return other is not None and ours <= self.ratio * other

    def __str__(self) -> str:
        return f"≤ {self.ratio:g}×"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Ours is at least so many times cheaper than the other."""

    times: float

    def met(self, ours: float, other: float | None) -> bool:
        """Tell whether the goal is reached."""
        return other is not None and other >= self.times * ours

    def __str__(self) -> str:
        return f"≥ {self.times:g}× less"


@dataclass(frozen=True, slots=True)
class Extra:
    """Ours costs at most so many seconds more than the other."""

    seconds: float

    def met(self, ours: float, other: float | None) -> bool:
        """Tell whether the goal is reached."""
        return other is not None and ours - other <= self.seconds

    def __str__(self) -> str:
        return f"≤ {self.seconds:g} s more"


@dataclass(frozen=True, slots=True)
class Within:
    """Ours costs at most so much; there is nothing to compare it with."""

    limit: float

    def met(self, ours: float, _other: float | None) -> bool:
        """Tell whether the goal is reached."""
        return ours <= self.limit

    def __str__(self) -> str:
        return f"≤ {self.limit:g}"


Goal = AtMost | AtLeast | Extra | Within


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is measured, against what, how often, and what is to be reached."""

    ours: Side
    other: Side | None
    goal: Goal
    rounds: int = 11
    unit: str = "s"
    """``s`` for seconds; anything else is printed as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The figures of one comparison."""

    name: str
    comparison: Comparison
    ours: Samples
    other: Samples | None

    @property
    def ratio(self) -> float | None:
        """Ours divided by the other's; None when there is no other or it costs nothing."""
        if self.other is None or not self.other.median:
            return None
        return self.ours.median / self.other.median

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        other = self.other.median if self.other else None
        return self.comparison.goal.met(self.ours.median, other)


def timed(run: Callable[[], object]) -> Measure:
    """Turn something to do into a measure in seconds."""

    def measure() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return measure


def command(
    arguments: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    before: Callable[[], object] | None = None,
) -> Measure:
    """Return a measure of a command's whole process, in seconds.

    :param before: done before each run, not measured.
    :raises subprocess.CalledProcessError: on measuring, when the command fails.
    """
    words = [str(argument) for argument in arguments]

    def run() -> None:
        subprocess.run(
            words, cwd=cwd, env=dict(env), check=True, stdin=subprocess.DEVNULL, capture_output=True
        )

    def measure() -> float:
        if before is not None:
            before()
        return timed(run)()

    return measure


def measure(name: str, comparison: Comparison) -> Result:
    """Measure both sides in turns, after one round that does not count."""
    sides = [comparison.ours] + ([comparison.other] if comparison.other else [])
    for side in sides:
        side.measure()
    figures: dict[str, list[float]] = {side.name: [] for side in sides}
    for round_number in range(comparison.rounds):
        for side in sides if round_number % 2 == 0 else reversed(sides):
            figures[side.name].append(side.measure())
    ours = Samples(values=tuple(figures[comparison.ours.name]))
    other = Samples(values=tuple(figures[comparison.other.name])) if comparison.other else None
    return Result(name=name, comparison=comparison, ours=ours, other=other)
