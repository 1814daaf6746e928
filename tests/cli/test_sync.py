"""``sync`` and ``lock`` through the installed command: what is missing is built, and nothing else happens."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import usual

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

VERSION = "import tinylib; print(tinylib.__version__)"


def _no_uv(folder: Path) -> dict[str, str | None]:
    """Return variables with which any call of uv fails, whoever looks for it where."""
    broken = folder / "broken"
    broken.mkdir(exist_ok=True)
    uv = broken / "uv"
    uv.write_text("#!/bin/sh\nexit 9\n")
    uv.chmod(0o755)
    return {"GREENROOM_UV": str(uv), "PATH": str(broken), "HTTP_PROXY": "http://127.0.0.1:9"}


def test_every_component_gets_the_version_it_declares(greenroom: Command, built: Path) -> None:
    assert greenroom("run", "app.A", "--", "python", "-c", VERSION).stdout == "2.0.0\n"
    assert greenroom("run", "app.B", "--", "python", "-c", VERSION).stdout == "1.1.1\n"
    assert greenroom("run", "s1", "--", "python", "-c", VERSION).stdout == "2.0.0\n"
    assert (built / "greenroom.lock/pylock.s1.toml").is_file()


def test_components_of_one_content_share_one_environment(
    greenroom: Command, built: Path, store_path: Path
) -> None:
    assert greenroom("python", "app.A").stdout == greenroom("python", "s1").stdout
    assert (
        len([path for path in store_path.iterdir() if not path.name.startswith(".")]) == 2 + 1
    )  # CACHEDIR.TAG
    del built


def test_a_second_sync_calls_no_uv_and_writes_nothing(
    greenroom: Command, built: Path, store_path: Path, tmp_path: Path
) -> None:
    before = {path: path.lstat().st_mtime_ns for path in (*store_path.rglob("*"), *built.rglob("*"))}
    again = greenroom("sync", env=_no_uv(tmp_path))
    assert again.stdout == "2 environments ready\n"
    assert again.stderr == ""
    assert {p: p.lstat().st_mtime_ns for p in (*store_path.rglob("*"), *built.rglob("*"))} == before


def test_without_a_snapshot_a_sync_of_what_is_there_calls_no_uv_either(
    greenroom: Command, built: Path, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "home" / ".cache" / "greenroom")
    assert greenroom("sync", env=_no_uv(tmp_path)).stdout == "2 environments ready\n"
    del built


def test_only_the_named_components_are_built(greenroom: Command, app: Path) -> None:
    done = greenroom("sync", "app.A")
    assert "1 environment ready: 1 built" in done.stdout
    assert greenroom("python", "app.B", status=3).stderr.strip().endswith("(greenroom sync app.B)")
    assert not (app / "greenroom.lock").exists(), "the lock of a component that nobody asked for"


def test_one_failing_environment_does_not_stop_the_others(
    greenroom: Command, app: Path, index: Index
) -> None:
    index.remove("tinylib-1.1.1-py3-none-any.whl")
    failed = greenroom("sync", status=1)
    assert "app.B" in failed.stdout
    assert "tinylib" in failed.stdout
    assert "1 component not ready" in failed.stdout
    greenroom("python", "app.A")
    greenroom("python", "s1")
    assert greenroom("status", status=3).stdout.count("missing") == 2  # the line and the sum
    del app


def test_a_failed_build_is_made_good_by_the_next_sync(greenroom: Command, app: Path) -> None:
    requirements = app / "srv/requirements.txt"
    requirements.write_text("tinylib==2.0.0\nno-such-package-qwertz\n")
    failed = greenroom("sync", "s1", status=1)
    assert "s1" in failed.stdout
    assert "no-such-package-qwertz" in failed.stdout
    greenroom("python", "s1", status=3)
    requirements.write_text("tinylib==2.0.0\n")
    greenroom("sync", "s1")
    assert greenroom("run", "s1", "--", "python", "-c", VERSION).stdout == "2.0.0\n"


def test_a_changed_extra_is_another_environment_and_going_back_costs_no_build(
    greenroom: Command, built: Path
) -> None:
    declaration = built / "greenroom.toml"
    before = declaration.read_text()
    declaration.write_text(before.replace('"app.A" = ["a"]', '"app.A" = ["b"]'))
    changed = greenroom("status", "app.A", "--json").json()["data"]
    assert changed["components"][0]["state"] == "ready", "app.B has the same content"
    greenroom("sync")
    assert greenroom("run", "app.A", "--", "python", "-c", VERSION).stdout == "1.1.1\n"
    declaration.write_text(before)
    assert greenroom("sync").stdout == "2 environments ready\n"
    assert greenroom("run", "app.A", "--", "python", "-c", VERSION).stdout == "2.0.0\n"


def test_renaming_a_class_builds_nothing(greenroom: Command, built: Path) -> None:
    declaration = built / "greenroom.toml"
    declaration.write_text(declaration.read_text().replace("app.A", "app.other.A"))
    assert greenroom("sync").stdout == "2 environments ready\n"


def test_touching_inputs_and_a_comment_build_nothing(greenroom: Command, built: Path) -> None:
    requirements = built / "srv/requirements.txt"
    requirements.write_text(f"# a word\n{requirements.read_text()}")
    for path in (built / "uv.lock", built / "pyproject.toml", built / "greenroom.toml"):
        os.utime(path)
    assert greenroom("sync").stdout == "2 environments ready\n"


def test_a_stale_uv_lock_names_the_package_and_the_command(greenroom: Command, app: Path) -> None:
    pyproject = app / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("tinylib==2.0.0", "tinylib==2.1.0"))
    refused = greenroom("sync", status=2)
    assert "tinylib" in refused.stdout
    assert "uv lock" in refused.stdout
    assert "Traceback" not in refused.stderr
    greenroom("python", "s1")


def test_locked_refuses_to_write_a_lock_and_names_the_command(greenroom: Command, app: Path) -> None:
    refused = greenroom("sync", "--locked", status=2)
    assert "greenroom lock s1" in refused.stdout
    assert not (app / "greenroom.lock").exists()
    greenroom("python", "app.A")
    greenroom("lock")
    greenroom("sync", "--locked")


def test_lock_check_tells_a_lock_that_is_out_of_date(greenroom: Command, built: Path) -> None:
    greenroom("lock", "--check")
    (built / "srv/requirements.txt").write_text("tinylib\n")
    told = greenroom("lock", "--check", status=2)
    assert "s1" in told.stdout
    assert "requirements.txt" in told.stdout
    greenroom("lock")
    greenroom("lock", "--check")


def test_a_lock_keeps_its_pins_until_an_upgrade_is_asked_for(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    app = usual.write(index, project, uv_lock, {"srv/requirements.txt": "tinylib\n"})
    greenroom("lock")
    lock = app / "greenroom.lock/pylock.s1.toml"
    index.add_wheel("tinylib", "3.0.0")
    index.add_wheel("another", "1.0")
    (app / "srv/requirements.txt").write_text("tinylib\nanother\n")
    greenroom("lock")
    assert "another" in lock.read_text()
    assert "3.0.0" not in lock.read_text()
    greenroom("lock", "--upgrade")
    assert "3.0.0" in lock.read_text()


def test_a_limit_that_is_lifted_counts_at_once(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    files = {"srv/requirements.txt": "-r ../base.txt\n-c ../limits.txt\n", "base.txt": "tinylib\n"}
    app = usual.write(index, project, uv_lock, {**files, "limits.txt": "tinylib<2\n"})
    say = ("run", "s1", "--", "python", "-c", "import tinylib; print(tinylib.__version__)")
    greenroom("sync", "s1")
    assert greenroom(*say).stdout == "1.1.1\n"
    (app / "limits.txt").write_text("# now\ntinylib<3\n")
    assert "limits.txt" in greenroom("status", "s1", status=2).stdout
    greenroom("sync", "s1")
    assert greenroom(*say).stdout == "2.0.0\n"


def test_offline_builds_from_what_is_there(
    greenroom: Command, built: Path, store_path: Path, index: Index
) -> None:
    for path in store_path.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(store_path)
    index.fault("*", status=500)
    greenroom("sync", "--offline")
    assert greenroom("run", "app.A", "--", "python", "-c", VERSION).stdout == "2.0.0\n"
    del built


def test_json_says_each_event_and_the_result_on_lines_of_their_own(greenroom: Command, app: Path) -> None:
    lines = [json.loads(line) for line in greenroom("sync", "--json").lines]
    assert {line["schema"] for line in lines} == {1}
    assert {line["command"] for line in lines} == {"sync"}
    for key in {line["key"] for line in lines[:-1] if line["event"] == "queued"}:
        events = [line["event"] for line in lines[:-1] if line.get("key") == key and line["event"] != "note"]
        assert events[0] == "queued"
        assert events[1] == "started"
        assert events[-1] == "ready"
        assert events.count("ready") == 1
    assert sorted(lines[-1]["data"]["components"]) == ["app.A", "app.B", "s1"]
    del app


def test_quiet_says_nothing_and_plain_lines_name_the_components(greenroom: Command, app: Path) -> None:
    quiet = greenroom("sync", "app.A", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    loud = greenroom("sync", "app.B")
    assert "app.B: building" in loud.stderr
    assert "app.B: ready" in loud.stderr
    del app


def test_verbose_shows_what_uv_says(greenroom: Command, app: Path) -> None:
    assert "tinylib==2.0.0" in greenroom("sync", "app.A", "--verbose").stderr
    del app


def test_several_syncs_at_once_build_each_environment_once(greenroom: Command, app: Path) -> None:
    greenroom("lock")
    running = [greenroom.start("sync", "--json") for _ in range(5)]
    lines = [line for each in running for line in each.wait().lines]
    started = [json.loads(line) for line in lines if '"started"' in line]
    assert len({event["key"] for event in started}) == len(started) == 2
    del app


@pytest.mark.parametrize("umask", [0o077, 0o000])
def test_the_umask_changes_nothing_for_other_users(
    greenroom: Command, app: Path, store_path: Path, umask: int
) -> None:
    old = os.umask(umask)
    try:
        greenroom("sync", "app.A")
    finally:
        os.umask(old)
    environment = Path(greenroom("python", "app.A").stdout.strip()).parent.parent
    modes = {stat.S_IMODE(path.stat().st_mode) for path in environment.rglob("*") if path.is_dir()}
    assert all(mode & 0o555 == 0o555 and not mode & 0o222 for mode in modes)
    del app, store_path


def test_jobs_must_be_a_number_of_at_least_one(greenroom: Command, app: Path) -> None:
    assert "--jobs" in greenroom("sync", "--jobs", "0", status=2).stderr
    assert "--jobs" in greenroom("sync", "--jobs", "x", status=2).stderr
    del app
