"""NeMo RL's names do what its users rely on: the interface's own examples, and the real table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from greenroom.adapters import nemo_rl
from greenroom.adapters.nemo_rl import building, executables, prefetching, projects, tables, venvs
from greenroom.errors import Problems, WrapperClash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.index import Index

TABLE = """\
[stages.trtllm]
extras = ["trtllm"]

[actors]
"a.Vllm" = ["vllm", "gym"]
"a.Collector" = ["vllm"]
"a.Trt" = ["trtllm"]
"a.Math" = false
"a.Core" = ["mcore"]
"""
PYPROJECT = """\
[project]
name = "rl"
version = "0"
requires-python = ">=3.11"
dependencies = []

[project.optional-dependencies]
vllm = ["tinylib==1.0"]
gym = []
trtllm = ["tinylib==2.0"]
mcore = ["othertiny"]

[tool.uv]
package = false
conflicts = [[{ extra = "vllm" }, { extra = "trtllm" }]]
"""
MADE = ("ACTOR_ENVIRONMENTS", "ACTOR_ENVIRONMENT_REGISTRY", "USE_SYSTEM_EXECUTABLE")


@pytest.fixture
def rl(project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the interface's example, and let the adapter read it anew."""
    path = project({"greenroom.toml": TABLE, "pyproject.toml": PYPROJECT})
    for name in MADE:
        vars(nemo_rl).pop(name, None)
    with monkeypatch.context() as patch:
        patch.setenv("GREENROOM_PROJECT", str(path))
        yield path
    for name in MADE:
        vars(nemo_rl).pop(name, None)


@pytest.fixture
def buildable(
    rl: Path,
    index: Index,
    uv_lock: Callable[..., object],
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    for version in ("1.0", "2.0"):
        index.add_wheel("tinylib", version)
    index.add_wheel("othertiny", "1.0")
    uv_lock(rl)
    with monkeypatch.context() as patch:
        for name, value in environ.items():
            if name != "GREENROOM_STORE":
                patch.setenv(name, value)
        yield rl


ROWS = {
    "a.Vllm": "a.Vllm\tdeps\t--extra vllm --extra gym\n",
    "a.Collector": "a.Collector\tdeps\t--extra vllm\n",
    "a.Trt": "a.Trt\ttrtllm\t--extra trtllm\n",
    "a.Core": "a.Core\tdeps\t--extra mcore\n",
}


@pytest.mark.parametrize(
    ("argv", "rows"),
    [
        ([], ["a.Vllm", "a.Collector", "a.Trt", "a.Core"]),
        (["all"], ["a.Vllm", "a.Collector", "a.Trt", "a.Core"]),
        (["deps"], ["a.Vllm", "a.Collector", "a.Core"]),
        (["trtllm"], ["a.Trt"]),
        (["deps", "vllm"], ["a.Core"]),
        (["all", "vllm", "mcore"], ["a.Trt"]),
    ],
)
def test_main_lists_what_is_to_be_built(
    rl: Path, capsys: pytest.CaptureFixture[str], argv: list[str], rows: list[str]
) -> None:
    assert nemo_rl.main(argv) == 0
    assert capsys.readouterr().out == "".join(ROWS[name] for name in rows)
    del rl


@pytest.mark.parametrize(("argv", "known"), [(["nonsense"], "trtllm"), (["deps", "vlm"], "vllm")])
def test_main_refuses_what_there_is_not(
    rl: Path, capsys: pytest.CaptureFixture[str], argv: list[str], known: str
) -> None:
    assert nemo_rl.main(argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert known in said.err
    del rl


def test_the_tables_are_the_declarations(rl: Path) -> None:
    assert nemo_rl.ACTOR_ENVIRONMENTS == {
        "a.Vllm": ["vllm", "gym"],
        "a.Collector": ["vllm"],
        "a.Trt": ["trtllm"],
        "a.Math": None,
        "a.Core": ["mcore"],
    }
    line = f"uv run --locked --extra vllm --extra gym --directory {rl}"
    assert nemo_rl.ACTOR_ENVIRONMENT_REGISTRY["a.Vllm"] == line == nemo_rl.get_actor_python_env("a.Vllm")
    assert nemo_rl.get_actor_python_env("a.Math") == sys.executable == nemo_rl.PY_EXECUTABLES.SYSTEM
    assert nemo_rl.uv_py_executable(["vllm"]) == nemo_rl.PY_EXECUTABLES.VLLM
    assert nemo_rl._build_stage(["gym", "trtllm"]) == "trtllm"
    assert nemo_rl._build_stage(["vllm"]) == "deps"
    with pytest.raises(AttributeError, match="no such extra"):
        _ = nemo_rl.PY_EXECUTABLES.NOTHING


def test_what_users_assign_counts(rl: Path) -> None:
    nemo_rl.ACTOR_ENVIRONMENT_REGISTRY["mine.Actor"] = "/some/python"
    assert nemo_rl.get_actor_python_env("mine.Actor") == "/some/python"
    with pytest.raises(ValueError, match=r"a\.Vlm .*did you mean a\.Vllm.*greenroom\.toml.*py_executable"):
        nemo_rl.get_actor_python_env("a.Vlm")
    del rl


def test_undeclared_extras_are_said_when_the_tables_are_imported(rl: Path) -> None:
    (rl / "greenroom.toml").write_text(TABLE.replace('["mcore"]', '["mcoree"]'), encoding="utf-8")
    code = "from greenroom.adapters.nemo_rl import ACTOR_ENVIRONMENTS"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ValueError: a.Core asks for 'mcoree'" in done.stderr
    assert f"{rl}/pyproject.toml" in done.stderr


def test_one_variable_puts_every_actor_on_the_driver(rl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("NEMO_RL_PY_EXECUTABLES_SYSTEM", "1")
        assert nemo_rl.USE_SYSTEM_EXECUTABLE
        assert set(nemo_rl.ACTOR_ENVIRONMENT_REGISTRY.values()) == {sys.executable}
    del rl


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("--locked --extra vllm --extra=gym", {"extras": ("vllm", "gym")}),
        ("--extra vllm python", {"extras": ("vllm",)}),
        ("--group dev --no-default-groups --", {"groups": ("dev",), "default_groups": False}),
        ("--package member --python 3.11", {"package": "member", "python": "3.11"}),
        ("--all-extras -q", {"extras": ("vllm", "gym", "trtllm", "mcore")}),
        ("--directory '/a b' --frozen", {"directory": "/a b"}),
    ],
)
def test_uv_run_lines_are_read(rl: Path, words: str, asked: dict[str, Any]) -> None:
    wanted = executables.Asked(**{"directory": str(rl), **asked})
    assert executables.parse(f"uv run {words}") == wanted
    assert executables.parse(executables.written(wanted)) == wanted


@pytest.mark.parametrize(
    "words",
    [
        "--extr vllm",
        "--with numpy",
        "--no-dev",
        "--reinstall",
        "--extra",
        "script.py",
        "python -m x",
        "--locked=1",
    ],
)
def test_an_option_that_cannot_be_kept_is_an_error(rl: Path, words: str) -> None:
    with pytest.raises(ValueError, match=words.split(maxsplit=1)[0].partition("=")[0]):
        executables.parse(f"uv run {words}")
    del rl


def test_an_environment_is_built_once_and_found_by_its_actors_names(buildable: Path) -> None:
    line = nemo_rl.uv_py_executable(["vllm"])
    python = nemo_rl.create_local_venv(line, "a.Collector")
    assert Path(python).is_relative_to(buildable / "venvs")
    assert _version(python) == "1.0"
    before = Path(python).parent.parent.joinpath("greenroom.json").stat().st_ino
    assert nemo_rl.create_local_venv(line, "some.Other") == python
    assert Path(python).parent.parent.joinpath("greenroom.json").stat().st_ino == before
    assert nemo_rl.create_local_venv(line, "a.Collector", force_rebuild=True) == python
    assert Path(python).parent.parent.joinpath("greenroom.json").stat().st_ino != before
    assert nemo_rl.create_local_venv("/some/python", "x") == "/some/python"


def _version(python: str) -> str:
    code = "import tinylib; print(tinylib.__version__)"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_root_is_where_the_variable_says(
    buildable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("NEMO_RL_VENV_DIR", str(tmp_path / "elsewhere"))
        python = nemo_rl.create_local_venv(nemo_rl.uv_py_executable([]), "a.b")
    assert Path(python).is_relative_to(tmp_path / "elsewhere")
    assert not (buildable / "venvs").exists()


def test_a_runtime_env_names_the_directory(buildable: Path) -> None:
    found = nemo_rl.make_actor_runtime_env("a.Trt")
    directory = str(Path(found["py_executable"]).parents[1])
    path = {"PATH": f"{directory}/bin:${{PATH}}"}
    assert found["env_vars"] == {"VIRTUAL_ENV": directory, "UV_PROJECT_ENVIRONMENT": directory} | path
    assert _version(found["py_executable"]) == "2.0"
    del buildable


def test_prefetch_makes_all_that_pass_and_counts_them(
    buildable: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("NRL_CONTAINER", "1")
        patch.setenv("GREENROOM_WRAPPERS", str(tmp_path / "bin"))
        done = nemo_rl.prefetch_venvs(["a."], ["Core"])
    assert [name for name, _ in done.made] == ["a.Vllm", "a.Collector", "a.Trt"]
    assert (done.driver, done.filtered, done.failed) == (("a.Math",), ("a.Core",), ())
    assert capsys.readouterr().out.splitlines()[-1] == "3 made, 1 driver, 1 filtered, 0 failed"
    assert _version(str(tmp_path / "bin/python-Collector")) == "1.0"
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == [
        "python-Collector",
        "python-Trt",
        "python-Vllm",
    ]
    del buildable


def test_prefetch_fails_when_one_failed_and_makes_the_others(
    buildable: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    index.fault("/files/othertiny-*", status=404)
    with pytest.raises(Problems):
        nemo_rl.prefetch_venvs()
    assert capsys.readouterr().out.splitlines()[-1] == "3 made, 1 driver, 0 filtered, 1 failed"
    del buildable


def test_one_class_name_for_two_environments_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WrapperClash, match="python-X"):
        prefetching._write_wrappers([("a.X", "/one/python"), ("b.X", "/other/python")], str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    prefetching._write_wrappers([("a.X", "/one/python"), ("b.X", "/one/python")], str(tmp_path))


def test_an_adopted_environment_is_the_declared_actors(buildable: Path) -> None:
    plan = building.planned({"x.y.Z": nemo_rl.uv_py_executable(["vllm"])})
    actor, found = venvs._declared(nemo_rl.uv_py_executable(["vllm"]), "a.Collector")
    assert (actor, found.key) == ("a.Collector", plan.environments[0].key)
    with pytest.raises(ValueError, match="no declared actor has the environment"):
        venvs._declared(nemo_rl.uv_py_executable(["mcore", "gym", "vllm"]), "x.New")
    del buildable


def test_a_real_trainers_table(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Path(__file__).parents[1] / "data/trainer"
    with monkeypatch.context() as patch:
        patch.setenv("GREENROOM_PROJECT", str(trainer))
        found = tables.actor_environments()
        known = {name.replace("_", "-") for name in projects.extras(str(trainer))}
    environments = {name: extras for name, extras in found.items() if extras is not None}
    assert (len(found), len(environments)) == (28, 18)
    assert len({frozenset(extras) for extras in environments.values()}) == 11
    assert {extra.replace("_", "-") for extras in environments.values() for extra in extras} <= known
