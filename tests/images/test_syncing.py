"""Stages: each builds what belongs to it from only the files that are there, and says what is to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import trainer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command


def stage(greenroom: Command, name: str, *more: str, status: int = 0) -> dict[str, Any]:
    answer = greenroom("image", "sync", "--stage", name, *more, "--json", status=status)
    import json

    data: dict[str, Any] = json.loads(answer.lines[-1])["data"]
    return data


def by_actor(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: found for found in data["environments"] for name in found["components"]}


def tree(root: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(root)): (path.lstat().st_ino, path.lstat().st_mode)
        for path in root.rglob("*")
        if ".greenroom" not in path.parts
    }


def test_stages_in_order_leave_partial_environments_until_the_last(
    greenroom: Command, app: Path, store_path: Path, wheels: str
) -> None:
    keys = {e["key"] for e in greenroom("image", "plan", "--json").json()["data"]["environments"]}
    deps = by_actor(stage(greenroom, "deps"))
    assert {found["state"] for found in deps.values()} == {"partial"}
    assert deps["app.policy.Policy"]["waits_for"] == ["local"]
    assert deps["app.trt.Fast"]["waits_for"] == ["trt", "fast", "local"]
    assert deps["app.policy.Policy"]["key"] == deps["app.policy.Reference"]["key"]
    for name in ("app.policy.Policy", "app.trt.Engine"):
        assert "still to come" in greenroom("run", name, "--", "python", "-c", "1", status=3).stderr
    first = tree(store_path)
    trt = by_actor(stage(greenroom, "trt", "--find-links", wheels))
    assert trt["app.trt.Engine"]["brought"] == ["trtkern"]
    assert trt["app.policy.Policy"]["action"] == "unchanged"
    second = tree(store_path)
    assert {path: entry for path, entry in second.items() if path in first} == {
        path: entry for path, entry in first.items() if path in second
    } | {path: second[path] for path in second if path.endswith("greenroom.partial.json")}
    assert all("trtkern" in path for path in second.keys() - first.keys())
    stage(greenroom, "fast", "--find-links", wheels)
    trainer.add_sources(app)
    last = by_actor(stage(greenroom, "local"))
    assert {found["state"] for found in last.values()} == {"ready"}
    assert {found["key"] for found in last.values()} == keys
    third = tree(store_path)
    new = third.keys() - second.keys()
    assert all("trainer" in path or "fastkern" in path or "greenroom" in path for path in new), new
    code = "import trtkern, trainer, corelib; print(trtkern.FROM)"
    assert greenroom("run", "app.trt.Engine", "--", "python", "-c", code).stdout == "image\n"
    greenroom("sync", "--locked")
    assert greenroom("status").status == 0
    greenroom("verify", "--deep")


def test_a_stage_run_twice_changes_nothing(greenroom: Command, app: Path, store_path: Path) -> None:
    stage(greenroom, "deps")
    before = tree(store_path)
    again = stage(greenroom, "deps")
    assert {found["action"] for found in again["environments"]} == {"unchanged"}
    assert tree(store_path) == before
    del app


def test_a_skipped_stage_is_named_and_can_run_later(greenroom: Command, app: Path, wheels: str) -> None:
    trainer.add_sources(app)
    stage(greenroom, "deps")
    last = by_actor(stage(greenroom, "local"))
    assert last["app.policy.Policy"]["state"] == "ready"
    assert last["app.trt.Fast"]["missed"] == ["trt", "fast"]
    told = greenroom("image", "sync", "--stage", "local").stdout
    assert "skipped: trt, fast" in told
    fast = by_actor(stage(greenroom, "fast", "--find-links", wheels))
    assert fast["app.trt.Fast"]["missed"] == ["trt"]
    done = by_actor(stage(greenroom, "trt", "--find-links", wheels))
    assert {found["state"] for found in done.values()} == {"ready"}


def test_a_stage_without_those_before_it_builds_what_it_finishes_and_no_other(
    greenroom: Command, app: Path, wheels: str
) -> None:
    found = by_actor(stage(greenroom, "trt", "--find-links", wheels))
    assert found["app.trt.Engine"]["action"] == "built"
    assert found["app.trt.Engine"]["pending"] == ["trainer"]
    assert found["app.policy.Policy"]["action"] == "later"
    deps = by_actor(stage(greenroom, "deps"))
    assert deps["app.trt.Engine"]["action"] == "unchanged"
    trainer.add_sources(app)
    stage(greenroom, "fast", "--find-links", wheels)
    assert {found["state"] for found in by_actor(stage(greenroom, "local")).values()} == {"ready"}


def test_a_late_wheel_of_another_version_is_an_error_that_names_both(
    greenroom: Command, app: Path, tmp_path: Path
) -> None:
    stage(greenroom, "deps")
    other = trainer.late_wheel(tmp_path / "other", "trtkern", "1.1")
    failed = greenroom("image", "sync", "--stage", "trt", "--find-links", other, status=1)
    assert "trtkern 1.0 is locked" in failed.stdout
    assert "trtkern-1.1" in failed.stdout
    failed = greenroom("image", "sync", "--stage", "trt", status=1)
    assert "--find-links" in failed.stdout
    del app


def test_skipping_an_extra_leaves_out_all_that_declare_it(greenroom: Command, app: Path) -> None:
    data = stage(greenroom, "deps", "--skip-extra", "vllm")
    assert data["skipped"] == {"app.vllm.Worker": "vllm", "app.vllm.Collector": "vllm"}
    assert not {"app.vllm.Worker", "app.vllm.Collector"} & by_actor(data).keys()
    wrong = greenroom("image", "sync", "--stage", "deps", "--skip-extra", "vll", status=2)
    assert "vllm" in wrong.stderr
    del app


def test_unknown_names_are_wrong_use_with_the_nearest(greenroom: Command, app: Path) -> None:
    assert "'trt'" in greenroom("image", "sync", "--stage", "trtl", status=2).stderr
    assert "Engine" in greenroom("image", "sync", "--stage", "deps", "app.trt.Engin", status=2).stderr
    assert "--stage" in greenroom("image", "sync", status=2).stderr
    del app


def test_where_local_sources_are_not_wanted_the_first_stage_is_enough(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    declaration = trainer.DECLARATION + "\n[defaults]\ninstall-local = false\n"
    trainer.write(index, project, uv_lock, declaration=declaration)
    deps = by_actor(stage(greenroom, "deps"))
    assert deps["app.policy.Policy"]["state"] == "ready"
    assert deps["app.trt.Engine"]["waits_for"] == ["trt"]
    code = "import corelib; print(corelib.V)"
    assert greenroom("run", "app.policy.Policy", "--", "python", "-c", code).stdout == "1.0\n"


def test_a_stale_lock_is_an_error_with_the_command_to_run(greenroom: Command, app: Path) -> None:
    file = app / "pyproject.toml"
    file.write_text(file.read_text().replace("corelib==1.0", "corelib==1.5", 1))
    failed = greenroom("image", "sync", "--stage", "deps", status=2)
    assert "uv lock" in failed.stdout
    assert "corelib" in failed.stdout
