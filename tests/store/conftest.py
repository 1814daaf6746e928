"""A workshop for environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.environments import Workshop

from greenroom.store.layout import Store
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def workshop(tmp_path: Path, store_path: Path, uv_cache: Path) -> Iterator[Workshop]:
    """Open a workshop with an empty store."""
    store = Store(path=str(store_path), writable=True)
    with Group() as group:
        yield Workshop(directory=tmp_path, store=store, uv_cache=uv_cache, group=group)
