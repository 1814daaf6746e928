"""The example runs as the README says."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.workspace import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.needs_ray, pytest.mark.online, pytest.mark.slow]
EXAMPLE = Path(__file__).parents[2] / "examples/ray-two-actors"


@pytest.fixture
def short_folder(public_path: Path) -> Iterator[Path]:
    """Return a folder whose path is short enough for Ray's sockets."""
    yield public_path
    shutil.rmtree(public_path / "ray", ignore_errors=True)


def test_two_actors_with_conflicting_packages_talk_to_each_other(
    tmp_path: Path, short_folder: Path, environ: dict[str, str], online_environ: dict[str, str | None]
) -> None:
    app = shutil.copytree(EXAMPLE, tmp_path / "app")
    python = Command(sys.executable, cwd=app, env=environ | {"RAY_TMPDIR": str(short_folder / "ray")})
    told = python("-m", "app", env=online_environ)
    assert told.lines[0].startswith(f"Releaser: semver 2.13.0 in {environ['GREENROOM_STORE']}")
    assert told.lines[1].startswith(f"Checker: semver 3.0.4 in {environ['GREENROOM_STORE']}")
    assert told.lines[2] == "1.4.2 -> 1.5.0: compatible"
