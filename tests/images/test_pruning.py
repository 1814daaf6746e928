"""What no environment needs at run time is removed, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import trainer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command


def test_built_wheels_and_leftovers_go_and_environments_stay_proven(
    greenroom: Command,
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    store_path: Path,
) -> None:
    index.add_sdist("common", "3.5")
    path = trainer.write(index, project, uv_lock)
    trainer.add_sources(path)
    greenroom("sync", "app.policy.Policy")
    assert list((store_path / ".greenroom/wheels").iterdir())
    left = store_path / ".greenroom/trash/old"
    left.mkdir()
    (left / "file").write_text("x" * 1000)
    answer = greenroom("image", "prune-cache", "--json").json()["data"]
    assert answer["removed"] >= 2
    assert answer["freed"] > 1000
    for folder in ("wheels", "trash", "building"):
        assert not list((store_path / ".greenroom" / folder).iterdir())
    greenroom("verify", "app.policy.Policy", "--deep")
    assert greenroom("image", "prune-cache", "--json").json()["data"]["removed"] == 0
