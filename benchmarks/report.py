"""Write results as the table of ``RESULTS.md``."""

from __future__ import annotations

import datetime as dt
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import greenroom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.frame import Result, Samples

__all__ = ["machine", "merged", "row"]

HEAD = "| benchmark | ours | against | ratio | goal | reached | day |\n|---|---|---|---|---|---|---|"
INTRODUCTION = """# Results

Written by `scripts/bench`. Medians, with the lowest and highest in brackets; both sides of a row were
measured in turns in one run. A row that is measured again replaces the old one; a run on another machine
starts a new table.
"""


def _processor() -> str:
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    """Return what the figures depend on, in one line."""
    uv = Path(sys.executable).with_name("uv")
    answer = subprocess.run([uv, "--version"], capture_output=True, text=True, check=True).stdout
    return (
        f"Machine: {os.cpu_count()} × {_processor()}, {platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, uv {answer.split()[1]}, greenroom {greenroom.__version__}."
    )


def _figure(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:,.0f} {unit}".strip()
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def _samples(name: str, samples: Samples, unit: str) -> str:
    low, high = min(samples.values), max(samples.values)
    return f"{name}: {_figure(samples.median, unit)} [{_figure(low, unit)} – {_figure(high, unit)}]"


def row(result: Result) -> str:
    """Return a result as a row of the table."""
    comparison, unit = result.comparison, result.comparison.unit
    other = _samples(comparison.other.name, result.other, unit) if comparison.other and result.other else "–"
    ratio = "–" if result.ratio is None else f"{result.ratio:.3g}×"
    cells = [
        result.name,
        _samples(comparison.ours.name, result.ours, unit),
        other,
        ratio,
        str(comparison.goal),
        "yes" if result.met else "**no**",
        dt.datetime.now(tz=dt.UTC).date().isoformat(),
    ]
    return f"| {' | '.join(cells)} |"


def merged(old: str, rows: Sequence[str], order: Sequence[str]) -> str:
    """Return the text of the file with these rows added or replaced.

    :param old: the file's text so far, empty when there is none.
    :param order: names of all benchmarks; rows of others are dropped.
    """
    table, notes = old, ""
    if "\n## " in old:
        table, _, notes = old.partition("\n## ")
        notes = f"\n## {notes}"
    lines = [*(table.splitlines() if machine() in table else ()), *rows]
    # By the first cell; the heading's is no benchmark.
    known = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}
    body = "\n".join(known[name] for name in order if name in known)
    return f"{INTRODUCTION}\n{machine()}\n\n{HEAD}\n{body}\n{notes}"
