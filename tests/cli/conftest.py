"""Fixtures of the command's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import usual

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command


@pytest.fixture
def app(index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]) -> Path:
    """Write the usual project; nothing is built."""
    return usual.write(index, project, uv_lock)


@pytest.fixture
def built(app: Path, greenroom: Command) -> Path:
    """Write the usual project and build it."""
    greenroom("sync")
    return app
