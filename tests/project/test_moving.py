"""An environment is fetched by its key alone, and a node fetches what it cannot build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import usual

from greenroom.errors import ArchiveAbsent
from greenroom.project import moving
from greenroom.ray import provision
from greenroom.store import layout
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command


@pytest.fixture
def pushed(
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    greenroom: Command,
    tmp_path: Path,
) -> str:
    """Build the usual project, push it, and return the key of ``app.A``."""
    usual.write(index, project, uv_lock)
    greenroom("sync")
    greenroom("push", str(tmp_path / "archives"))
    return str(greenroom("python", "app.A").stdout.split("/")[-3])


def test_a_key_is_enough(pushed: str, tmp_path: Path, environ: dict[str, str]) -> None:
    store = Store(path=str(tmp_path / "elsewhere"), writable=True)
    moving.fetch_one(pushed, str(tmp_path / "archives"), store, environ)
    assert layout.state(store, pushed)[0] == State.READY
    with pytest.raises(ArchiveAbsent):
        moving.fetch_one("cp311-" + "a" * 24, str(tmp_path / "archives"), store, environ)


def test_a_node_without_the_declaration_fetches(pushed: str, tmp_path: Path, environ: dict[str, str]) -> None:
    wanted = {
        "key": pushed,
        "component": "app.A",
        "declaration": "/nowhere/greenroom.toml",
        "store": str(tmp_path / "elsewhere"),
    }
    alone = list(provision.provide([wanted], environ, lambda _: None, prove=True))
    assert "its declaration /nowhere/greenroom.toml is not here" in alone[0]["error"]
    environ["GREENROOM_FROM"] = str(tmp_path / "archives")
    (said,) = provision.provide([wanted], environ, lambda _: None, prove=True)
    assert (said["outcome"], said["error"]) == ("fetched", "")
