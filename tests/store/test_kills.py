"""Whatever is killed at whatever step: nothing incomplete counts as ready, and the next run completes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.store.steps import WORKS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("work", WORKS)
def test_a_kill_at_any_step_breaks_no_promise(work: str, tmp_path: Path, uv_cache: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.store.steps", work, str(tmp_path), str(uv_cache)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr[-4000:]
    assert int(found.stdout.split()[-1]) >= 3
