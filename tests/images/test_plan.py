"""What an image will hold, before and after it is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support import trainer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.workspace import Command


def test_the_plan_tells_stages_packages_and_sizes(greenroom: Command, app: Path) -> None:
    data = greenroom("image", "plan", "--json").json()["data"]
    assert data["stages"] == ["deps", "trt", "fast", "local"]
    rows = {name: found for found in data["environments"] for name in found["components"]}
    assert rows["app.trt.Fast"]["stages"] == {"deps": 2, "trt": 1, "fast": 1, "local": 1}
    assert rows["app.trt.Fast"]["packages"] == 5
    assert rows["app.trt.Engine"]["size"] is None
    worker, collector = rows["app.vllm.Worker"], rows["app.vllm.Collector"]
    assert 0 < worker["own_download"] < worker["download"]
    assert collector["own_download"] == 0 < collector["download"], "those before it bring all of it"
    assert data["drivers"] == ["app.env.Env"]
    table = greenroom("image", "plan").stdout
    assert "deps:2 trt:1 fast:1 local:1" in table
    assert "shared" in table
    fewer = greenroom("image", "plan", "--skip-extra", "trt", "--json").json()["data"]
    assert not any("trt" in name for found in fewer["environments"] for name in found["components"])
    del app


def test_the_plan_measures_what_is_built_and_cache_keys_follow_the_content(
    greenroom: Command, app: Path
) -> None:
    before = greenroom("image", "plan", "--json").json()["data"]["cache_keys"]
    trainer.add_sources(app)
    greenroom("sync", "app.policy.Policy", "app.vllm.Collector", "--no-progress")
    data = greenroom("image", "plan", "--sizes", "--json").json()["data"]
    assert data["cache_keys"] == before
    rows = {name: found for found in data["environments"] for name in found["components"]}
    policy, collector = rows["app.policy.Policy"], rows["app.vllm.Collector"]
    assert policy["size"] > 0
    assert 0 < collector["adds"] < policy["adds"] + collector["size"]
    text = (app / "greenroom.toml").read_text()
    (app / "greenroom.toml").write_text(text.replace('"app.trt.Fast" = ["trt", "fast"]\n', ""))
    after = greenroom("image", "plan", "--json").json()["data"]["cache_keys"]
    assert after["fast"] != before["fast"]
    assert after["trt"] != before["trt"]


def test_the_page_needs_nothing_else_and_shows_the_build(
    greenroom: Command, app: Path, tmp_path: Path
) -> None:
    page = tmp_path / "plan.html"
    greenroom("image", "plan", "--html", str(page))
    assert 'class="bar"' not in page.read_text()
    greenroom("image", "sync", "--stage", "deps")
    greenroom("image", "plan", "--html", str(page))
    text = page.read_text()
    assert text.count('class="bar"') == 5
    assert "app.trt.Fast" in text
    assert not re.search(r"(src|href)=|https?://|<script|@import|url\(", text)
    del app
