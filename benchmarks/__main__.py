"""Run benchmarks by name: all of them, or those that are named."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import (
    building,
    image_steps,
    moving,
    planning,
    ray_calls,
    scale,
    servers,
    servers_running,
    sharing,
    starting,
)
from benchmarks.frame import measure
from benchmarks.report import HEAD, merged, row

if TYPE_CHECKING:
    from benchmarks.frame import Benchmark

BENCHMARKS: dict[str, Benchmark] = {
    "version": starting.version,
    "python": starting.python,
    "list": starting.listing,
    "servers-status": servers.status,
    "servers-status-trusting": servers.status_trusting,
    "servers-sync": servers.sync,
    "servers-sync-trusting": servers.sync_trusting,
    "components": scale.components,
    **planning.BENCHMARKS,
    "sharing-builds": sharing.builds,
    "sharing-time": sharing.time,
    "sharing-inodes": sharing.inodes,
    "sharing-bytes": sharing.size,
    "build-warm": building.warm,
    "build-first-bytecode": building.first_compiled,
    "build-further-compiled": building.further_compiled,
    "build-further-plain": building.further_plain,
    "build-further-pip": building.further_pip,
    "unpack": moving.unpack,
    "crowd": starting.crowd,
    **ray_calls.BENCHMARKS,
    **servers_running.BENCHMARKS,
    **image_steps.BENCHMARKS,
}
"""Every benchmark by its name, in the order of the table."""


def _remove(directory: Path) -> None:
    # A store's folders are read-only.
    for folder, _, _ in os.walk(directory):
        Path(folder).chmod(0o755)
    shutil.rmtree(directory)


def _run(name: str) -> str:
    scratch = Path(tempfile.mkdtemp(prefix="greenroom-bench-"))
    try:
        return row(measure(name, BENCHMARKS[name](scratch)))
    finally:
        _remove(scratch)


def main() -> None:
    """Measure, print each row as it is there, and write the table."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--no-write", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    if options.list:
        print("\n".join(BENCHMARKS))
        return
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; known: {', '.join(BENCHMARKS)}")
    rows = []
    print(HEAD)
    for name in options.names or BENCHMARKS:
        rows.append(_run(name))
        print(rows[-1], flush=True)
    if not options.no_write:
        results = Path(__file__).with_name("RESULTS.md")
        old = results.read_text(encoding="utf-8") if results.exists() else ""
        results.write_text(merged(old, rows, list(BENCHMARKS)), encoding="utf-8")


if __name__ == "__main__":
    main()
