"""A frozen image and the tree that is mounted over it: what differs is named, what does not matter is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import trainer

from greenroom.images import verifying

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command


@pytest.fixture
def image(greenroom: Command, app: Path, wheels: str) -> Path:
    """Build and freeze the whole image."""
    greenroom("image", "sync", "--stage", "deps")
    greenroom("image", "sync", "--stage", "trt", "--find-links", wheels)
    greenroom("image", "sync", "--stage", "fast", "--find-links", wheels)
    trainer.add_sources(app)
    greenroom("image", "sync", "--stage", "local")
    greenroom("image", "freeze")
    return app


def drift(greenroom: Command, *more: str, status: int = 3) -> dict[str, dict[str, Any]]:
    data = greenroom("image", "verify", *more, "--json", status=status).json()["data"]
    return {name: found for found in data["drift"] for name in found["components"]}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_image_as_it_was_frozen_has_no_drift(greenroom: Command, image: Path) -> None:
    assert "as it was frozen" in greenroom("image", "verify").stdout
    greenroom("image", "verify", "--deep")
    edit(image / "src/trainer/__init__.py", "", "# edited\n")
    (image / "README").write_text("new\n")
    greenroom("image", "verify")
    edit(image / "greenroom.toml", "[actors]", "# a comment\n[actors]")
    edit(image / "pyproject.toml", "[build-system]", "# another\n[build-system]")
    told = greenroom("image", "verify").stdout
    assert "metadata of trainer changed" in told


def test_where_nothing_changed_no_key_is_told_anew(
    image: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(*_: object) -> None:
        pytest.fail("the full road was taken")

    monkeypatch.setattr(verifying, "_plan", plan)
    assert verifying.verify(str(image / "greenroom.toml"), environ).drift == ()


def test_what_does_not_touch_an_environment_is_no_drift(greenroom: Command, image: Path) -> None:
    edit(image / "greenroom.toml", "[actors]", "[defaults.env]\nMODE = 'x'\n[actors]")
    edit(image / "greenroom.toml", '"app.env.Env" = false\n', "")
    edit(image / "greenroom.toml", '["vllm", "core"]', '["core", "vllm"]')
    assert drift(greenroom, status=0) == {}


def test_a_changed_lock_names_the_package(
    greenroom: Command, image: Path, index: Index, uv_lock: Callable[..., object]
) -> None:
    index.add_wheel("servelib", "2.1")
    edit(image / "pyproject.toml", "servelib==2.0", "servelib==2.1")
    stale = drift(greenroom)
    assert any("uv lock" in line for line in stale["app.vllm.Worker"]["differences"])
    uv_lock(image)
    found = drift(greenroom)
    changed = {name for name, one in found.items() if one["kind"] == "changed"}
    assert changed == {"app.vllm.Worker", "app.vllm.Collector"}
    assert {one["kind"] for one in found.values()} == {"changed", "metadata"}
    assert found["app.vllm.Worker"]["differences"] == ["servelib 2.0 → 2.1"]
    told = greenroom("image", "verify", status=3).stdout
    assert "servelib 2.0 → 2.1" in told
    assert "2 components" in told


def test_an_actor_that_is_new_or_asks_for_something_else_is_named(greenroom: Command, image: Path) -> None:
    edit(
        image / "greenroom.toml",
        '"app.env.Env" = false',
        '"app.env.Env" = false\n"app.New" = ["trt", "vllm"]',
    )
    edit(image / "greenroom.toml", '"app.vllm.Worker" = ["vllm"]', '"app.vllm.Worker" = ["core"]')
    found = drift(greenroom)
    assert found.keys() == {"app.New"}, "the worker's new environment is in the image, too"
    assert found["app.New"]["kind"] == "new"


def test_the_policy_decides_what_becomes_of_drift(
    greenroom: Command, image: Path, store_path: Path, tmp_path: Path
) -> None:
    edit(image / "greenroom.toml", '"app.vllm.Worker" = ["vllm"]', '"app.vllm.Worker" = []')
    assert drift(greenroom).keys() == {"app.vllm.Worker"}
    assert drift(greenroom, "--on-drift", "warn", status=0).keys() == {"app.vllm.Worker"}
    edit(image / "greenroom.toml", "[actors]", "[image]\non-drift = 'rebuild'\n[actors]")
    before = sorted(path.name for path in store_path.iterdir())
    two = {"GREENROOM_STORE": f"{tmp_path / 'second'}:{store_path}"}
    data = greenroom("image", "verify", "--json", env=two)
    assert '"rebuilt": ["cp' in data.lines[-1]
    assert sorted(path.name for path in store_path.iterdir()) == before
    assert str(tmp_path / "second") in greenroom("python", "app.vllm.Worker", env=two).stdout
    assert str(store_path) in greenroom("python", "app.trt.Engine", env=two).stdout


def test_what_is_damaged_or_missing_in_a_layer_is_found(greenroom: Command, image: Path) -> None:
    root = Path(greenroom("python", "app.trt.Engine").stdout.strip()).parents[1]
    module = next(root.glob("lib/python*/site-packages/trtkern/ops.py"))
    module.parent.chmod(0o755)
    module.unlink()
    greenroom("image", "verify")
    found = drift(greenroom, "--deep")
    assert any("trtkern/ops.py" in line for line in found["app.trt.Engine"]["differences"])
    root.chmod(0o755)
    (root / "greenroom.json").unlink()
    assert drift(greenroom)["app.trt.Engine"]["kind"] == "missing"
    del image


def test_an_image_that_was_not_frozen_is_told(greenroom: Command, app: Path) -> None:
    assert "freeze" in greenroom("image", "verify", status=3).stderr
    del app
