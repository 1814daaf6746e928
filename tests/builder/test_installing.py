from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import distributions, jobs
from tests.support.building import built, failure, said, sync

from greenroom.builder.events import Event, Note, Output, Phase
from greenroom.errors import LateMissing, ProofRejected, SourceMissing
from greenroom.locks import model as locks
from greenroom.recipes.model import Distribution, Editable, Late, Origins
from greenroom.store import layout, records
from greenroom.store.layout import Store
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.index import Index


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def editable(path: Path, name: str = "tinylib") -> jobs.Part:
    origins = Origins(name=name, directory=locks.Directory(path=str(path), editable=True))
    return jobs.source_part(name, Editable(path=str(path)), origins)


def test_an_editable_source_is_installed_last_and_in_place(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    path = distributions.write_source(tmp_path / "lib", "tinylib", "1.0", requires=["never-there"])
    job = jobs.job([editable(path), jobs.part(index, index.add_wheel("zeta", "1.0"))])
    lines: list[str] = []

    def observe(event: Event) -> None:
        if isinstance(event, Output) and event.line.strip().startswith("+ "):
            lines.append(event.line)

    built(job, store, environ, observer=observe)
    assert [line.split()[1].partition("==")[0] for line in lines] == ["zeta", "tinylib"]
    (path / "src/tinylib/__init__.py").write_text("V = 7\n")
    assert said(store, job, "import tinylib; print(json.dumps(tinylib.V))") == 7


def test_build_settings_and_variables_reach_an_editable_source(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    index.add_wheel("helper", "1.0")
    index.add_wheel("helper", "2.0")
    path = distributions.write_source(
        tmp_path / "lib", "tinylib", "1.0", build_requires=["helper"], imports=["helper"], reads=["MY_ARCH"]
    )
    backend = path / "be.py"
    backend.write_text(
        backend.read_text().replace(
            "def build_editable(",
            "def build_editable(directory, config=None, metadata=None):\n"
            "    import helper\n"
            "    Path('seen').write_text(helper.__version__ + ' ' + str(os.environ.get('MY_ARCH')))\n"
            "    return _build_editable(directory, config, metadata)\n\n\n"
            "def _build_editable(",
        )
    )
    settings = locks.BuildSettings(build_constraints=("helper<2",), no_build=(":all:",))
    job = jobs.job([editable(path)], settings=settings, supply={"build_env": (("MY_ARCH", "80"),)})
    built(job, store, environ | {"MY_ARCH": "stray"})
    assert (path / "seen").read_text() == "1.0 80"


def test_a_missing_editable_source_is_named_with_the_way_out(
    store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    error = failure(jobs.job([editable(tmp_path / "gone")]), store, environ)
    assert isinstance(error, SourceMissing)
    assert str(tmp_path / "gone") in error.cause
    assert "install-local" in (error.todo or "")


@pytest.mark.parametrize("winner", ["alpha", "beta"])
def test_the_named_winner_of_a_clash_stands_there(
    index: Index, store: Store, environ: dict[str, str], winner: str
) -> None:
    parts = [
        jobs.part(index, index.add_wheel(name, "1.0", files={"shared/one.py": f"OWNER = {name!r}\n"}))
        for name in ("alpha", "beta")
    ]
    error = failure(jobs.job(parts), store, environ)
    assert "shared/one.py" in error.cause
    assert "allow-clash" in (error.todo or "")
    job = jobs.job(parts, last=(winner,))
    built(job, store, environ)
    assert said(store, job, "import shared.one as s; print(json.dumps(s.OWNER))") == winner
    record = records.read(store, job.key)
    assert record is not None
    assert [clash.winner for clash in record.clashes] == [winner]


def test_the_order_of_winners_is_the_declared_one(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    parts = [
        jobs.part(index, index.add_wheel(name, "1.0", files={"shared/one.py": f"OWNER = {name!r}\n"}))
        for name in ("alpha", "beta", "gamma")
    ]
    job = jobs.job(parts, last=("gamma", "alpha"))
    built(job, store, environ)
    assert said(store, job, "import shared.one as s; print(json.dumps(s.OWNER))") == "alpha"


def late(name: str, version: str) -> jobs.Part:
    return Distribution(name=name, version=version, content=Late()), Origins(name=name)


def test_a_late_package_comes_from_its_folder_of_wheels_and_from_nowhere_else(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    index.add_wheel("later", "1.0")
    parts = [late("later", "1.0"), jobs.part(index, index.add_wheel("alpha", "1.0"))]
    error = failure(jobs.job(parts), store, environ)
    assert isinstance(error, LateMissing)
    assert "later==1.0" in error.cause
    name, content, _ = distributions.wheel("later", "1.0", files={"later/own.py": "V = 'ours'\n"})
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / name).write_bytes(content)
    job = jobs.job(parts, late_wheels=str(tmp_path / "wheels"))
    built(job, store, environ)
    assert said(store, job, "import later.own as o; print(json.dumps(o.V))") == "ours"
    record = records.read(store, job.key)
    assert record is not None
    (found,) = [item for item in record.installed if item.name == "later"]
    assert found.wheel == hashlib.sha256(content).hexdigest()


def test_an_environment_with_pending_packages_is_partial_and_finished_when_they_are_here(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    parts = [late("later", "1.0"), jobs.part(index, index.add_wheel("alpha", "1.0"))]
    partial = jobs.job(parts, pending=("later",))
    built(partial, store, environ)
    assert layout.state(store, partial.key)[0] == State.PARTIAL
    assert sync([partial], store, environ)[0].built is False
    name, content, _ = distributions.wheel("later", "1.0")
    (tmp_path / name).write_bytes(content)
    whole = jobs.job(parts, late_wheels=str(tmp_path))
    assert whole.key == partial.key
    built(whole, store, environ)
    assert layout.state(store, whole.key) == (State.READY, "")
    assert said(store, whole, "import later, alpha; print(1)") == 1


def test_post_install_commands_run_at_the_final_path_with_the_environments_surroundings(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    code = (
        "import json, os, sys, pathlib;"
        "pathlib.Path(sys.prefix, 'marks.json').write_text(json.dumps(["
        "sys.argv[1:], sys.prefix, os.environ['VIRTUAL_ENV'], os.environ['PATH'].split(':')[0],"
        "os.environ.get('STRAY')]))"
    )
    commands = (
        ("{python}", "-c", code, "a b", "{environment}/x", "{other}"),
        ("python", "-c", "import alpha; print('from', alpha.__version__)"),
    )
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], post_install=commands)
    events: list[Event] = []
    built(job, store, environ | {"STRAY": "1", "PYTHONPATH": "/nowhere"}, observer=events.append)
    root = store.environment(job.key)
    marks = json.loads(Path(root, "marks.json").read_text())
    assert marks == [["a b", f"{root}/x", "{other}"], root, root, f"{root}/bin", None]
    assert any(isinstance(event, Output) and event.line == "from 1.0" for event in events)
    assert any(isinstance(event, Phase) and "post-install" in event.detail for event in events)


def test_a_failing_post_install_command_leaves_nothing_ready(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    commands = (("{python}", "-c", "raise SystemExit('no model there')"),)
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], post_install=commands)
    error = failure(job, store, environ)
    assert "no model there" in error.cause
    assert layout.state(store, job.key)[0] == State.MISSING
    assert not Path(store.environment(job.key)).exists()
    assert "post-install: " in error.cause
    silent = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], post_install=(("false",),))
    assert "post-install: false: false said nothing and ended with status 1" in str(
        failure(silent, store, environ)
    )
    missing = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], post_install=(("no-such-tool",),))
    assert "no-such-tool" in failure(missing, store, environ).cause


def test_a_file_that_uvs_cache_lost_is_fetched_anew_and_it_is_said(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    alpha = jobs.part(index, index.add_wheel("alpha", "1.0", files={"alpha/deep/data.txt": "x" * 100}))
    beta = jobs.part(index, index.add_wheel("beta", "1.0"))
    built(jobs.job([alpha]), store, environ)
    (lost,) = [
        path
        for path in Path(environ["UV_CACHE_DIR"], "archive-v0").rglob("alpha/deep/data.txt")
        if path.is_file()
    ]
    lost.unlink()
    second = jobs.job([alpha, beta])
    events: list[Event] = []
    built(second, store, environ, observer=events.append)
    assert Path(store.environment(second.key), "lib").exists()
    (note,) = [event.text for event in events if isinstance(event, Note)]
    assert "cache was damaged" in note
    assert "alpha" in note
    third = jobs.job([alpha, beta, jobs.part(index, index.add_wheel("gamma", "1.0"))])
    built(third, store, environ, observer=events.append)
    assert len([event for event in events if isinstance(event, Note)]) == 1


def test_a_truncated_file_of_uvs_cache_is_found_by_its_size(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    alpha = jobs.part(index, index.add_wheel("alpha", "1.0", files={"alpha/data.txt": "x" * 100}))
    first = jobs.job([alpha])
    built(first, store, environ)
    (torn,) = Path(environ["UV_CACHE_DIR"], "archive-v0").rglob("alpha/data.txt")
    torn.unlink()
    torn.write_text("x")
    second = jobs.job([alpha], last=("alpha",))
    built(second, store, environ)
    (data,) = Path(store.environment(second.key)).rglob("alpha/data.txt")
    assert data.read_text() == "x" * 100


def test_a_wheel_that_says_the_wrong_size_itself_is_the_packages_fault(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    row = "alpha/data.txt,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,7"
    file = index.add_wheel(
        "alpha", "1.0", files={"alpha/data.txt": "four"}, recorded_as={"alpha/data.txt": row}
    )
    job = jobs.job([jobs.part(index, file)])
    events: list[Event] = []
    built(job, store, environ, observer=events.append)
    record = records.read(store, job.key)
    assert record is not None
    assert [(fault.distribution, fault.size) for fault in record.faults] == [("alpha", 4)]
    notes = [event.text for event in events if isinstance(event, Note)]
    assert not any("cache was damaged" in note for note in notes)
    assert any("alpha" in note for note in notes)


def test_what_cannot_be_proven_is_rejected_after_the_second_attempt(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    code = (
        "import os, alpha; os.mkdir(os.path.dirname(os.path.dirname(alpha.__file__)) + '/more-1.0.dist-info')"
    )
    commands = (("{python}", "-c", code),)
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], post_install=commands)
    error = failure(job, store, environ)
    assert isinstance(error, ProofRejected)
    assert error.phase == "prove"
    assert "more" in error.cause


@pytest.mark.parametrize("mode", ["copy", "hardlink"])
def test_the_link_mode_is_the_declared_one_and_never_the_callers(
    index: Index, store: Store, environ: dict[str, str], mode: str
) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], supply={"link_mode": mode})
    built(job, store, environ | {"UV_LINK_MODE": "symlink"})
    (module,) = Path(store.environment(job.key)).rglob("alpha/__init__.py")
    assert not module.is_symlink()
    assert (module.stat().st_nlink > 1) == (mode == "hardlink")


def test_an_empty_recipe_is_an_environment_too(store: Store, environ: dict[str, str]) -> None:
    job = jobs.job([])
    built(job, store, environ)
    assert said(store, job, "print(1)") == 1


def test_bytecode_is_there_when_the_recipe_says_so(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))], bytecode=True)
    events: list[Event] = []
    built(job, store, environ, observer=events.append)
    assert [event.phase for event in events if isinstance(event, Phase)] == ["install", "prove", "compile"]
    assert list(Path(store.environment(job.key)).rglob("alpha/__pycache__/*.pyc"))


@pytest.mark.parametrize("mask", [0o077, 0o000])
def test_the_umask_leaves_no_trace(index: Index, store: Store, environ: dict[str, str], mask: int) -> None:
    sdist = jobs.part(index, index.add_sdist("built", "1.0"))
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0")), sdist])
    before = os.umask(mask)
    try:
        built(job, store, environ)
    finally:
        os.umask(before)
    for folder, _, files in os.walk(store.environment(job.key)):
        assert Path(folder).stat().st_mode & 0o777 == 0o555, folder
        for name in files:
            mode = Path(folder, name).stat().st_mode
            assert mode & 0o444 == 0o444, (folder, name)
    (wheel,) = Path(store.wheels).glob("*/*.whl")
    assert wheel.stat().st_mode & 0o777 == 0o644
    (log,) = Path(store.logs).iterdir()
    assert log.stat().st_mode & 0o777 == 0o600
