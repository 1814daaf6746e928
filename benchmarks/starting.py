"""What it costs to start."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.frame import AtMost, Comparison, Side, command

__all__ = ["version"]


def version(scratch: Path) -> Comparison:
    """Compare ``greenroom --version`` with bare Python of the same environment."""
    greenroom = Path(sys.executable).with_name("greenroom")
    env = {"PATH": os.defpath, "HOME": str(scratch)}
    return Comparison(
        ours=Side(
            name="`greenroom --version`", measure=command([greenroom, "--version"], cwd=scratch, env=env)
        ),
        other=Side(
            name="`python -c pass`", measure=command([sys.executable, "-c", "pass"], cwd=scratch, env=env)
        ),
        goal=AtMost(3),
        rounds=41,
    )
