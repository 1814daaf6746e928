"""What it costs to read a real trainer: 28 actors, 18 with an environment, a lock of 549 packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frame import Comparison, Side, Within, command
from benchmarks.surroundings import Surroundings, remove

if TYPE_CHECKING:
    from benchmarks.frame import Benchmark

__all__ = ["BENCHMARKS", "python", "trainer"]

CORPUS = Path(
    os.environ.get("GREENROOM_CORPUS")
    or Path(__file__).parent.parent.parent / "shared" / "corpus" / "nemo-rl"
)
"""``pyproject.toml``, ``uv.lock`` and ``greenroom.toml`` of the trainer."""
COLD, WARM = 2.0, 0.2
"""Seconds."""
_OWN_PYTHON = (">=3.13.14,<3.14", ">=3.13.14, <3.14")
"""The trainer's ``requires-python``, as its project and its lock spell it."""


def _benchmark(words: tuple[str, ...], *, cold: bool, with_keys: bool) -> Benchmark:
    def benchmark(scratch: Path) -> Comparison:
        around = Surroundings(scratch=scratch)
        project = trainer(scratch, with_keys=with_keys)
        driver = {"GREENROOM_DRIVER": python()} if with_keys else {}
        ours = command(
            # What is found wrong is part of the answer: statuses up to 3 are no failure.
            ["/bin/sh", "-c", '"$0" "$@"; test $? -le 3', around.greenroom, *words],
            cwd=project,
            env=around.env | driver,
            before=(lambda: remove(around.memory)) if cold else None,
        )
        name = f"`greenroom {' '.join(words)}`, {'cold' if cold else 'warm'}"
        limit = COLD if cold else WARM
        return Comparison(ours=Side(name=name, measure=ours), other=None, goal=Within(limit), rounds=11)

    return benchmark


def python() -> str:
    """Return a Python 3.13: the lock has wheels for no other."""
    home = Path.home()
    candidates = [Path(found) for found in [shutil.which("python3.13")] if found]
    candidates += sorted((home / ".pyenv" / "versions").glob("3.13*/bin/python3.13"))
    candidates += sorted((home / ".local/share/uv/python").glob("cpython-3.13*/bin/python3.13"))
    for candidate in candidates:
        # A shim may answer that there is none.
        if subprocess.run([candidate, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return str(candidate)
    raise SystemExit("a Python 3.13 is needed here")


def trainer(scratch: Path, *, with_keys: bool) -> Path:
    """Copy the trainer.

    :param with_keys: whether any 3.13 is to be admitted and conflicting extras are left out: with the
        patch release that is asked for, which is rarely installed, all keys could be told.
    """
    if not CORPUS.is_dir():
        raise SystemExit(f"no {CORPUS}: let GREENROOM_CORPUS name the trainer's folder")
    project = scratch / "trainer"
    project.mkdir()
    for name in ("pyproject.toml", "uv.lock", "greenroom.toml"):
        shutil.copyfile(CORPUS / name, project / name)
        if with_keys:
            text = (project / name).read_text(encoding="utf-8")
            for own in _OWN_PYTHON:
                text = text.replace(f'requires-python = "{own}"', 'requires-python = ">=3.13,<3.14"')
            text = text.replace('Worker" = ["vllm", "nemo_gym"]', 'Worker" = ["vllm"]')
            (project / name).write_text(text, encoding="utf-8")
    return project


BENCHMARKS: dict[str, Benchmark] = {
    f"trainer-{name}-{'cold' if cold else 'warm'}": _benchmark(words, cold=cold, with_keys=with_keys)
    for name, words, with_keys in (
        ("list", ("list",), False),
        ("check", ("check",), False),
        ("keys", ("status",), True),
    )
    for cold in (True, False)
}
