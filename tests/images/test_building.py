"""A real image: built from the written Dockerfile, run read-only, as nobody, without network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support import trainer
from tests.support.capabilities import needs_command, needs_namespaces, needs_root
from tests.support.container import BASE, Buildah

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command

pytestmark = [pytest.mark.slow, needs_command("buildah"), needs_root, needs_namespaces]


def test_the_written_dockerfile_builds_an_image_that_runs_closed_off(
    greenroom: Command,
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    tmp_path: Path,
) -> None:
    app = trainer.write(index, project, uv_lock)
    trainer.add_sources(app)
    for name in ("trt", "fast"):
        trainer.late_wheel(tmp_path / "late" / name, f"{name}kern")
    greenroom("image", "dockerfile", "--base", BASE, "--no-install", "--output", str(app))
    buildah = Buildah(tmp_path / "buildah")
    buildah.make_base()
    buildah.build(app, "image", contexts={"late-wheels": tmp_path / "late"})
    layers = [each for each in buildah.layers("image") if any("opt/greenroom" in name for name in each.names)]
    _, trt, fast, local = layers
    for layer, name in ((trt, "trtkern"), (fast, "fastkern")):
        content = [entry for entry in layer.names if "/.greenroom/" not in entry]
        ours = [entry for entry in content if entry.startswith("opt/greenroom")]
        strange = [entry for entry in ours if name not in entry and "greenroom.partial" not in entry]
        assert not strange
        assert any(entry.endswith(f"{name}/ops.py") for entry in content)
    content = [entry for entry in local.names if "opt/greenroom/cp" in entry]
    assert all("trainer" in entry or "greenroom." in entry for entry in content), content
    left = [entry for each in layers for entry in each.names if entry.startswith(("root/", "var/", "tmp/"))]
    assert not left, "no cache is in a layer"
    assert not [entry for each in layers for entry in each.names if entry.endswith(".whl")]
    served = len(index.requests)

    def closed(*arguments: str, status: int = 0, **more: Any) -> str:
        done = buildah.closed("image", *arguments, **more)
        assert done.returncode == status, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    assert "5 ready" in closed("greenroom", "status")
    code = "import os, trtkern, trainer; print(trtkern.FROM, os.getuid(), os.path.exists(trtkern.__cached__))"
    assert closed("greenroom", "run", "app.trt.Engine", "--", "python", "-c", code) == "image 54321 True\n"
    assert closed("greenroom", "python", "app.trt.Engine").startswith("/opt/greenroom/cp")
    assert "as it was frozen" in closed("greenroom", "image", "verify")
    closed("greenroom", "image", "verify", "--deep")
    assert len(index.requests) == served

    # What the image has not is built beside it, where that is allowed.
    copy = "import shutil; shutil.copytree('/app', '/writable/app')"
    sync = (
        "cd /writable/app && greenroom sync app.policy.Policy --locked && greenroom python app.policy.Policy"
    )
    words = f'python -c "{copy}" && {sync}'
    assert "no store is writable" in closed("/bin/sh", "-c", words, writable=["/writable"], status=1)
    env = {"GREENROOM_STORE": "/writable/store:/opt/greenroom", "UV_CACHE_DIR": "/writable/cache"}
    env |= {"TMPDIR": "/writable", "UV_DEFAULT_INDEX": index.url}
    told = closed("/bin/sh", "-c", words, writable=["/writable"], env=env, network=True)
    assert "/writable/store/cp" in told
