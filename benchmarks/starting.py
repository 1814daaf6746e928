"""What it costs to start, and to ask the easiest questions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.frame import AtMost, Comparison, Side, command
from benchmarks.surroundings import Surroundings, uv_lock

__all__ = ["crowd", "listing", "python", "version"]

EXAMPLE = Path(__file__).parent.parent / "examples" / "two-actors"
CROWD = 32
"""Processes that ask at once."""


def version(scratch: Path) -> Comparison:
    """Compare ``greenroom --version`` with bare Python of the same environment."""
    around = Surroundings(scratch=scratch)
    ours = command([around.greenroom, "--version"], cwd=scratch, env=around.env)
    return Comparison(
        ours=Side(name="`greenroom --version`", measure=ours), other=_bare(around), goal=AtMost(3), rounds=41
    )


def python(scratch: Path) -> Comparison:
    """Compare ``greenroom python NAME`` on the example with bare Python."""
    return _question(scratch, "python", "app.modern.Reader")


def listing(scratch: Path) -> Comparison:
    """Compare ``greenroom list`` on the example with bare Python."""
    return _question(scratch, "list")


def crowd(scratch: Path) -> Comparison:
    """Compare what each of 32 processes that ask at once costs with one that asks alone.

    Processes share the processors, so the time of the crowd is divided by the number of those that
    each processor runs.
    """
    around, example = _example(scratch)
    words = [around.greenroom, "python", "app.modern.Reader"]
    share = CROWD / min(CROWD, os.cpu_count() or 1)

    def at_once() -> float:
        start = time.perf_counter()
        asked = [
            subprocess.Popen(words, cwd=example, env=around.env, stdout=subprocess.DEVNULL)
            for _ in range(CROWD)
        ]
        statuses = {process.wait() for process in asked}
        if statuses != {0}:
            raise SystemExit("greenroom python failed in the crowd")
        return (time.perf_counter() - start) / share

    return Comparison(
        ours=Side(name=f"`python` of each of {CROWD} at once, per processor", measure=at_once),
        other=Side(name="alone", measure=command(words, cwd=example, env=around.env)),
        goal=AtMost(1.5),
        rounds=11,
    )


def _question(scratch: Path, *words: str) -> Comparison:
    around, example = _example(scratch)
    ours = command([around.greenroom, *words], cwd=example, env=around.env)
    return Comparison(
        ours=Side(name=f"`greenroom {' '.join(words)}`", measure=ours),
        other=_bare(around),
        goal=AtMost(4),
        rounds=41,
    )


def _example(scratch: Path) -> tuple[Surroundings, Path]:
    """Build the example of the README."""
    around = Surroundings(scratch=scratch)
    example = scratch / "two-actors"
    shutil.copytree(EXAMPLE, example, ignore=shutil.ignore_patterns(".venv", "__pycache__"))
    if not (example / "uv.lock").exists():
        uv_lock(around, example)
    around.run(around.greenroom, "sync", cwd=example)
    return around, example


def _bare(around: Surroundings) -> Side:
    measure = command([sys.executable, "-c", "pass"], cwd=around.scratch, env=around.env)
    return Side(name="`python -c pass`", measure=measure)
