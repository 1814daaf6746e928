"""Fixtures of images: the project as it stands in an image's first layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import trainer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index


@pytest.fixture
def app(index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]) -> Path:
    """Write declaration, ``pyproject.toml`` and ``uv.lock``; nothing else is there."""
    return trainer.write(index, project, uv_lock)


@pytest.fixture
def wheels(tmp_path: Path) -> str:
    """Put the late packages' wheels into a folder."""
    trainer.late_wheel(tmp_path / "wheels", "fastkern")
    return trainer.late_wheel(tmp_path / "wheels", "trtkern")
