"""A server's line is started with the variables and logs that the configuration says."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from greenroom.adapters.nemo_gym import NEMO_GYM_ALLOWED_COMPONENT_ROOTS_ENV_VAR_NAME as ROOTS
from greenroom.adapters.nemo_gym import run_command

if TYPE_CHECKING:
    from pathlib import Path

SHOW = "python3 -c 'import json, os; print(json.dumps(dict(os.environ)))'"


def output(tmp_path: Path, command: str, **options: object) -> tuple[int, str]:
    with (tmp_path / "out").open("w+", encoding="utf-8") as file:
        process = run_command(command, tmp_path, stdout_target=file, **options)  # type: ignore[arg-type]
        status = process.wait()
        file.seek(0)
        return status, file.read()


def test_variables_are_the_callers_then_extra_then_the_paths_then_uvs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/callers")
    monkeypatch.setenv("MINE", "caller")
    monkeypatch.setenv("OTHER", "caller")
    config = {"uv_cache_dir": "/cache", "uv_lock_timeout": 1800}
    extra = {"MINE": "extra", "PYTHONPATH": "/extra", "UV_CACHE_DIR": "/no"}
    root = tmp_path / "root"
    _, text = output(tmp_path, SHOW, project_root=root, global_config_dict=config, extra_env=extra)
    found = json.loads(text)
    assert found["PYTHONPATH"] == f"{tmp_path}:{root}:/extra"
    assert (found["MINE"], found["OTHER"]) == ("extra", "caller")
    assert (found["UV_CACHE_DIR"], found["UV_LOCK_TIMEOUT"]) == ("/cache", "1800")


def test_without_more_pythonpath_is_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "UV_LOCK_TIMEOUT", "UV_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    found = json.loads(output(tmp_path, SHOW, global_config_dict={"uv_lock_timeout": None})[1])
    assert found["PYTHONPATH"] == str(tmp_path)
    assert not {"UV_LOCK_TIMEOUT", "UV_CACHE_DIR"} & found.keys()


@pytest.mark.parametrize(("server_name", "file"), [("a/b c", "a_b c.log"), ("", None)])
def test_output_is_also_appended_to_a_log_and_the_status_is_kept(
    tmp_path: Path, server_name: str, file: str | None
) -> None:
    logs = tmp_path / "it's $(touch x)" / "logs"
    config = {"nemo_gym_log_dir": str(logs)}
    for _ in range(2):
        command = "echo out; echo err >&2; exit 7 # last"
        done = output(tmp_path, command, server_name=server_name, global_config_dict=config)
        assert done == (7, "out\nerr\n")
    assert (logs / (file or f"{tmp_path.name}.log")).read_text() == "out\nerr\n" * 2
    assert not (tmp_path / "x").exists()


def test_errors_go_to_their_own_target_and_a_session_can_be_asked_for(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+", encoding="utf-8") as errors:
        process = run_command(
            "echo err >&2; echo $$; exec sleep 60",
            tmp_path,
            global_config_dict={},
            stdout_target=subprocess.PIPE,  # type: ignore[arg-type]
            stderr_target=errors,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert int(process.stdout.readline()) == process.pid == os.getsid(process.pid)
        os.killpg(process.pid, 15)
        assert process.wait() == -15
        process.stdout.close()
        errors.seek(0)
        assert errors.read() == "err\n"


@pytest.mark.parametrize("own", [True, False])
def test_outside_the_allowed_roots_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    roots = str(tmp_path / "roots")
    if own:
        monkeypatch.setenv(ROOTS, roots)
    extra = {} if own else {ROOTS: roots}
    with pytest.raises(RuntimeError, match=r"'math'.*outside the allowed component roots"):
        run_command("touch made", tmp_path, "math", global_config_dict={}, extra_env=extra)
    assert not (tmp_path / "made").exists()


def test_the_configuration_may_be_left_to_nemo_gym_itself(tmp_path: Path) -> None:
    assert output(tmp_path, "echo $0")[0] == 0
