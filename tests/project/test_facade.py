"""The Python interface on real projects."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import usual

import greenroom
from greenroom.builder import events
from greenroom.errors import EnvironmentMissing, NotReadyError, UnknownComponent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index


def _again(error: greenroom.Problems) -> greenroom.Problems:
    again: greenroom.Problems = pickle.loads(pickle.dumps(error))  # noqa: S301 - written here
    return again


def _descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


@pytest.fixture
def app(index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]) -> Path:
    return usual.write(index, project, uv_lock)


@pytest.fixture
def loaded(app: Path, environ: dict[str, str]) -> greenroom.Project:
    return greenroom.load(app, environ=environ)


def test_the_way_of_the_readme(loaded: greenroom.Project, environ: dict[str, str]) -> None:
    assert loaded.components == ("app.A", "app.B", "app.C", "s1")
    before = loaded.environment("app.A")
    assert not before.ready
    assert before.packages == {"tinylib": "2.0.0"}
    seen: list[events.Event] = []
    report = loaded.sync(on_event=seen.append)
    assert report.ok
    assert len(report.built) == 2
    assert dict(report.components).keys() == {"app.A", "app.B", "s1"}
    env = loaded.environment("app.A")
    assert env.ready
    assert env.key == before.key
    assert env == loaded.environment("s1") != loaded.environment("app.B")
    assert env.command(["-m", "app"]) == [env.python, "-m", "app"]
    assert env.variables(environ)["VIRTUAL_ENV"] == env.path
    run = env.run(["-c", "import sys; print(sys.prefix)"], env=environ, capture_output=True, text=True)
    assert run.stdout.strip() == env.path


def test_what_is_not_ready_raises_and_says_what_to_type(loaded: greenroom.Project) -> None:
    env = loaded.environment("app.A")
    for use in (lambda: env.command([]), lambda: env.variables({}), lambda: env.run(["-V"])):
        with pytest.raises(EnvironmentMissing, match=r"greenroom sync app\.A"):
            use()


def test_a_component_on_the_drivers_interpreter_has_no_key_and_runs(
    loaded: greenroom.Project, environ: dict[str, str]
) -> None:
    env = loaded.environment("app.C")
    assert (env.key, env.path, env.ready, env.state) == (None, None, True, "driver")
    assert env.packages == {}
    run = env.run(["-c", "import sys; print(sys.prefix)"], env=environ, capture_output=True, text=True)
    assert run.stdout.strip() == sys.prefix


def test_an_unknown_name_raises_with_the_nearest(loaded: greenroom.Project) -> None:
    for ask in (loaded.environment, lambda name: loaded.plan([name]), lambda name: loaded.sync([name])):
        with pytest.raises(UnknownComponent, match=r"did you mean 'app\.A'"):
            ask("app.AA")


def test_one_broken_component_hides_no_other(
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    environ: dict[str, str],
) -> None:
    app = usual.write(index, project, uv_lock, {"srv/requirements.txt": "no-such-package-qwertz\n"})
    loaded = greenroom.load(app, environ=environ)
    with pytest.raises(greenroom.Problems, match="no-such-package-qwertz") as caught:
        loaded.sync()
    assert len(caught.value.errors) == 1
    assert _again(caught.value).lines() == caught.value.lines()
    assert loaded.environment("app.A").ready
    report = loaded.try_sync()
    assert not report.ok
    assert [problem.components for problem in report.problems] == [("s1",)]
    plan = loaded.plan()
    assert [problem.components for problem in plan.problems] == [("s1",)]
    assert plan.missing == ()


def test_an_observer_that_raises_stops_the_run(loaded: greenroom.Project) -> None:
    def refuse(event: events.Event) -> None:
        if isinstance(event, events.Started):
            raise RuntimeError("enough")  # noqa: TRY004 - anything an observer may raise

    with pytest.raises(RuntimeError, match="enough"):
        loaded.sync(["app.A"], on_event=refuse)
    assert not loaded.environment("app.A").ready
    loaded.sync(["app.A"])
    assert loaded.environment("app.A").ready


def test_locks_are_reported_and_written(loaded: greenroom.Project, app: Path) -> None:
    assert [lock.component for lock in loaded.outdated()] == ["s1"]
    seen: list[events.Event] = []
    assert loaded.lock(on_event=seen.append) == (str(app / "greenroom.lock/pylock.s1.toml"),)
    assert [type(event) for event in seen if not isinstance(event, events.Output)] == [
        events.Phase,
        events.Locked,
    ]
    assert loaded.outdated() == ()
    assert loaded.lock() == ()


def test_the_variables_of_loading_count_and_not_those_of_the_process(
    loaded: greenroom.Project, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_STORE", "/nowhere")
    with monkeypatch.context():
        assert str(loaded.environment("app.A").path).startswith(str(store_path))
    monkeypatch.undo()


def test_running_takes_no_variables_of_the_callers_environment_along(
    loaded: greenroom.Project, environ: dict[str, str]
) -> None:
    loaded.sync(["app.A"])
    env = loaded.environment("app.A")
    code = "import os; print(sorted({'PYTHONHOME', 'PYTHONPATH', 'CONDA_PREFIX'} & os.environ.keys()))"
    polluted = environ | {"PYTHONPATH": "/x", "PYTHONHOME": "/x", "CONDA_PREFIX": "/x"}
    run = env.run(["-c", code], env=polluted, stdout=subprocess.PIPE, text=True)
    assert run.stdout == "[]\n"
    descriptors = _descriptors()
    env.run(["-c", ""], env=polluted)
    assert _descriptors() == descriptors


def test_an_environment_that_was_collected_meanwhile_raises(
    loaded: greenroom.Project, environ: dict[str, str]
) -> None:
    import shutil

    loaded.sync(["app.A"])
    env = loaded.environment("app.A")
    for path in Path(str(env.path)).rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    Path(str(env.path)).chmod(0o755)
    shutil.rmtree(str(env.path))
    with pytest.raises(NotReadyError):
        env.run(["-V"], env=environ)
