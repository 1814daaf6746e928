"""Fixtures of the servers' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.serving import Serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.workspace import Command


@pytest.fixture
def serving(greenroom: Command, app_path: Path) -> Iterator[Serving]:
    """Run servers; all are down at the end."""
    found = Serving(greenroom, app_path)
    yield found
    found.down()
