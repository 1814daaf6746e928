from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import distributions, jobs
from tests.support.building import built, failure, said, sync
from tests.support.capabilities import needs_command

from greenroom.builder.events import Event, Phase, Waiting
from greenroom.errors import FetchFailed, HashMismatch, NotCached, SourceMissing, WrongWheel
from greenroom.locks import model as locks
from greenroom.recipes import keys, local
from greenroom.recipes.model import Build, BuildInputs, Origins
from greenroom.store import records
from greenroom.store.layout import Store

if TYPE_CHECKING:
    from tests.support.gate import Gate
    from tests.support.index import Index


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def test_a_source_is_built_once_and_the_record_names_the_wheels_digest(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    part = jobs.part(index, index.add_sdist("alpha", "1.0"))
    other = jobs.part(index, index.add_wheel("beta", "1.0"))
    first, second = jobs.job([part]), jobs.job([part, other])
    phases: list[str] = []

    def observe(event: Event) -> None:
        if isinstance(event, Phase) and event.phase == "build":
            phases.append(event.detail)

    assert all(result.ok for result in sync([first, second], store, environ, observer=observe))
    assert set(phases) == {"alpha 1.0"}
    (folder,) = Path(store.wheels).iterdir()
    record = json.loads((folder / "wheel.json").read_text())
    for job in (first, second):
        found = records.read(store, job.key)
        assert found is not None
        (alpha,) = [item for item in found.installed if item.name == "alpha"]
        assert alpha.wheel == record["sha256"]
    assert index.downloads.count("alpha-1.0.tar.gz") == 1


def test_two_processes_that_need_one_wheel_build_it_once(
    index: Index, store: Store, environ: dict[str, str], gate: Gate
) -> None:
    part = jobs.part(index, index.add_sdist("slow", "1.0", gate=gate))
    work = [jobs.job([part]), jobs.job([part, jobs.part(index, index.add_wheel("beta", "1.0"))])]
    waits: list[Waiting] = []

    def observe(event: Event) -> None:
        if isinstance(event, Waiting):
            waits.append(event)
            gate.open()

    assert all(result.ok for result in sync(work, store, environ, observer=observe, at_once=2))
    assert gate.arrived == 1
    assert [event.what for event in waits] == ["the wheel of slow 1.0"]


def test_uvs_cache_of_built_wheels_decides_nothing_but_declared_variables_do(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    file = index.add_sdist("alpha", "1.0", reads=["MY_ARCH", "STRAY"])
    polluted = environ | {"MY_ARCH": "stray", "STRAY": "1"}
    seen = {}
    for value in ("80", "90", None):
        inputs = BuildInputs(variables=(("MY_ARCH", value),))
        job = jobs.job([jobs.part(index, file, inputs=inputs)])
        built(job, store, polluted)
        seen[value] = said(store, job, "import alpha._built as b; print(json.dumps(b.VARIABLES))")
    assert seen == {value: {"MY_ARCH": value, "STRAY": None} for value in ("80", "90", None)}
    assert len(list(Path(store.wheels).iterdir())) == 3


def test_build_constraints_extra_requirements_and_settings_reach_the_build(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    for version in ("1.0", "2.0", "3.0"):
        index.add_wheel("helper", version)
        index.add_wheel("extra", version)
    file = index.add_sdist("alpha", "1.0", build_requires=["helper"], imports=["helper", "extra"])
    inputs = BuildInputs(requires=("extra==2.0",), constraints=("helper<2",), settings=(("flag", '"on"'),))
    job = jobs.job([jobs.part(index, file, inputs=inputs)])
    built(job, store, environ)
    against = said(store, job, "import alpha._built as b; print(json.dumps(b.AGAINST))")
    assert against == {"helper": "1.0", "extra": "2.0"}


def test_a_chain_without_isolation_is_built_in_order_against_the_environment(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    base = jobs.part(index, index.add_wheel("base", "3.0"))

    def link(name: str, needs: str, sees: tuple[str, ...]) -> jobs.Part:
        file = index.add_sdist(name, "1.0", imports=[needs])
        return jobs.part(index, file, inputs=BuildInputs(isolated=False, sees=sees))

    # By name the second link of the chain comes first.
    later = link("aaa", "zzz", ("base==3.0@x", "zzz==1.0@y"))
    earlier = link("zzz", "base", ("base==3.0@x",))
    job = jobs.job([base, later, earlier])
    built(job, store, environ)
    code = "import aaa._built as a, zzz._built as z; print(json.dumps([a.AGAINST, z.AGAINST]))"
    assert said(store, job, code) == [{"zzz": "1.0"}, {"base": "3.0"}]


def test_a_failed_build_says_what_the_backend_said(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    file = index.add_sdist("alpha", "1.0", fails="nvcc: not found")
    error = failure(jobs.job([jobs.part(index, file)]), store, environ)
    assert error.phase == "build"
    assert "nvcc: not found" in error.cause
    assert "build of alpha 1.0 failed: " in str(error)
    assert store.path not in error.cause
    assert "nvcc: not found" in Path(error.log).read_text()
    assert not list(Path(store.wheels).iterdir())


@pytest.mark.parametrize(("status", "advice"), [(401, "UV_INDEX_"), (403, "credentials"), (404, "lock anew")])
def test_a_refused_download_names_url_and_status(
    index: Index, store: Store, environ: dict[str, str], status: int, advice: str
) -> None:
    file = index.add_sdist("alpha", "1.0")
    index.fault("/files/*", status=status)
    error = failure(jobs.job([jobs.part(index, file)]), store, environ)
    assert isinstance(error, FetchFailed)
    assert error.phase == "download"
    assert index.file_url(file.name) in error.cause
    assert str(status) in error.cause
    assert advice in (error.todo or "")


def test_a_passing_failure_is_tried_again(index: Index, store: Store, environ: dict[str, str]) -> None:
    file = index.add_sdist("alpha", "1.0")
    index.fault("/files/*", status=503, times=1)
    index.fault("/files/*", cut=10, times=1)
    built(jobs.job([jobs.part(index, file)]), store, environ)


def test_a_server_that_says_nothing_is_given_up(index: Index, store: Store, environ: dict[str, str]) -> None:
    file = index.add_sdist("alpha", "1.0")
    index.fault("/files/*", hang=True)
    error = failure(jobs.job([jobs.part(index, file)]), store, environ | {"UV_HTTP_TIMEOUT": "0.2"})
    assert isinstance(error, FetchFailed)
    assert "no answer in time" in error.cause


def test_another_content_than_the_locked_one_is_refused(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    file = index.add_sdist("alpha", "1.0", sha256="0" * 64)
    error = failure(jobs.job([jobs.part(index, file)]), store, environ)
    assert isinstance(error, HashMismatch)
    assert "0" * 64 in error.cause
    wheel = index.add_wheel("beta", "1.0", sha256="1" * 64)
    error = failure(jobs.job([jobs.part(index, wheel)]), store, environ)
    assert isinstance(error, HashMismatch)


def test_a_build_that_gives_another_version_is_refused(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    distribution, origins = jobs.part(index, index.add_sdist("alpha", "1.0"))
    error = failure(jobs.job([(replace(distribution, version="2.0"), origins)]), store, environ)
    assert isinstance(error, WrongWheel)
    assert "alpha 1.0" in error.cause
    assert "alpha 2.0" in error.cause


def test_offline_takes_what_the_store_has_and_names_what_it_has_not(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    part = jobs.part(index, index.add_sdist("alpha", "1.0"))
    wheel = jobs.part(index, index.add_wheel("beta", "1.0"))
    built(jobs.job([part, wheel]), store, environ)
    asked = len(index.requests)
    built(jobs.job([part]), store, environ, offline=True)
    assert len(index.requests) == asked
    missing = jobs.part(index, index.add_sdist("gamma", "1.0"))
    error = failure(jobs.job([missing]), store, environ, offline=True)
    assert isinstance(error, NotCached)
    assert "gamma" in error.cause
    unknown = jobs.part(index, index.add_wheel("delta", "1.0"))
    error = failure(jobs.job([unknown]), store, environ, offline=True)
    assert isinstance(error, NotCached), error
    assert "delta" in error.cause
    assert len(index.requests) == asked


def test_a_private_index_is_asked_with_the_credentials_of_its_name(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    from greenroom.components import Index as Declared

    parts = [
        jobs.part(index, index.add_sdist("alpha", "1.0")),
        jobs.part(index, index.add_wheel("beta", "1.0")),
    ]
    index.require_login("bob", "S3CRETPW")
    declared = {"indexes": (Declared(name="my-own", url=index.url),)}
    login = {"UV_INDEX_MY_OWN_USERNAME": "bob", "UV_INDEX_MY_OWN_PASSWORD": "S3CRETPW"}
    job = jobs.job(parts, supply=declared)
    assert "without credentials" in failure(job, store, environ).cause
    built(job, store, environ | login)
    assert {request.user for request in index.requests if request.status == 200} == {"bob"}


def test_netrc_and_user_info_of_an_index_variable_count_too(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    index.require_login("bob", "S3CRETPW")
    first = jobs.job([jobs.part(index, index.add_sdist("alpha", "1.0"))])
    built(first, store, environ | {"UV_DEFAULT_INDEX": index.url_with("bob", "S3CRETPW")})
    (Path(environ["HOME"]) / ".netrc").write_text("machine 127.0.0.1 login bob password S3CRETPW\n")
    built(jobs.job([jobs.part(index, index.add_sdist("beta", "1.0"))]), store, environ)


def directory(path: Path, **more: Any) -> jobs.Part:
    tree = f"tree:{local.tree_digest(str(path))}"
    origins = Origins(name="tinylib", directory=locks.Directory(path=str(path), editable=False))
    return jobs.source_part(
        "tinylib", Build(source=tree, subdirectory=None, inputs=BuildInputs(**more)), origins
    )


def test_an_edited_local_source_is_another_build_and_the_environment_has_the_edit(
    store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    path = distributions.write_source(
        tmp_path / "lib", "tinylib", "1.0", files={"tinylib/value.py": "V = 1\n"}
    )
    code = "import tinylib.value as v; print(json.dumps(v.V))"
    first = jobs.job([directory(path)])
    built(first, store, environ)
    assert said(store, first, code) == 1
    (path / "src/tinylib/value.py").write_text("V = 2\n")
    second = jobs.job([directory(path)])
    assert second.key != first.key
    built(second, store, environ)
    assert said(store, second, code) == 2
    shutil.rmtree(store.path, ignore_errors=True)
    built(second, store, environ)
    assert said(store, second, code) == 2


def test_a_build_leaves_nothing_in_a_local_source(
    store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    path = distributions.write_source(tmp_path / "lib", "tinylib", "1.0")
    (path / "link").symlink_to("src/tinylib")
    backend = (path / "be.py").read_text()
    (path / "be.py").write_text(backend + "\nopen('litter', 'w').close()\n")
    before = sorted(entry.name for entry in path.rglob("*"))
    built(jobs.job([directory(path)]), store, environ)
    assert sorted(entry.name for entry in path.rglob("*")) == before


def test_a_missing_local_source_is_named(store: Store, environ: dict[str, str], tmp_path: Path) -> None:
    path = distributions.write_source(tmp_path / "lib", "tinylib", "1.0")
    job = jobs.job([directory(path)])
    shutil.rmtree(path)
    error = failure(job, store, environ)
    assert isinstance(error, SourceMissing)
    assert str(path) in error.cause


def test_an_edit_between_planning_and_building_is_not_built_under_the_old_key(
    store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    path = distributions.write_source(tmp_path / "lib", "tinylib", "1.0")
    job = jobs.job([directory(path)])
    (path / "src/tinylib/__init__.py").write_text("changed = True\n")
    assert "changed" in failure(job, store, environ).cause


def test_a_zip_archive_and_a_subdirectory_are_built(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    files = distributions.source_files("tinylib", "1.0")
    archive = tmp_path / "tinylib.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for name, text in files.items():
            zipped.writestr(f"repository-main/packages/tinylib/{name}", text)
    file = index.add("tinylib", "archive.zip", archive.read_bytes())
    origin = Origins(
        name="tinylib",
        file=locks.File(name=file.name, location=index.file_url(file.name), sha256=file.sha256),
    )
    content = Build(source=f"sha256:{file.sha256}", subdirectory="packages/tinylib", inputs=BuildInputs())
    job = jobs.job([jobs.source_part("tinylib", content, origin, "1.0")])
    built(job, store, environ)
    wrong = replace(content, subdirectory="packages/other")
    error = failure(jobs.job([jobs.source_part("tinylib", wrong, origin, "1.0")]), store, environ)
    assert "packages/other" in error.cause


def git(directory: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@e")
    command = ["git", "-C", str(directory), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def repository(path: Path) -> str:
    distributions.write_source(path / "pkg", "tinylib", "1.0")
    git(path, "init", "-q", "-b", "main")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "one")
    git(path, "tag", "v1.0")
    return git(path, "rev-parse", "HEAD")


def commit_part(path: Path, commit: str) -> jobs.Part:
    origin = Origins(
        name="tinylib", commit=locks.Commit(url=f"file://{path}", commit=commit, subdirectory="pkg")
    )
    content = Build(source=f"git:{commit}", subdirectory="pkg", inputs=BuildInputs())
    return jobs.source_part("tinylib", content, origin, "1.0")


@needs_command("git")
def test_a_commit_is_built_with_tags_also_when_no_branch_holds_it(
    store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "repository"
    path.mkdir()
    commit = repository(path)
    (path / "pkg/src/tinylib/__init__.py").write_text("V = 2\n")
    git(path, "commit", "-q", "-a", "-m", "two")
    newer = git(path, "rev-parse", "HEAD")
    git(path, "reset", "-q", "--hard", commit)
    git(path, "update-ref", "refs/pull/1/head", newer)
    git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
    for wanted, code in (
        (commit, "print(json.dumps(tinylib.__version__))"),
        (newer, "print(json.dumps(tinylib.V))"),
    ):
        job = jobs.job([commit_part(path, wanted)])
        built(job, store, environ)
        assert said(store, job, f"import tinylib; {code}") in {"1.0", 2}


@needs_command("git")
def test_a_repository_that_cannot_be_had_is_a_failed_download(
    store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    job = jobs.job([commit_part(tmp_path / "nothing", "0" * 40)])
    error = failure(job, store, environ)
    assert isinstance(error, FetchFailed)
    assert "nothing" in error.cause
    assert error.phase == "download"
    distribution, origins = commit_part(tmp_path, "0" * 40)
    remote = replace(origins, commit=locks.Commit(url="https://example.invalid/x", commit="0" * 40))
    assert isinstance(failure(jobs.job([(distribution, remote)]), store, environ, offline=True), NotCached)


def test_a_wheel_that_was_damaged_in_the_store_is_built_again(
    index: Index, store: Store, environ: dict[str, str]
) -> None:
    part = jobs.part(index, index.add_sdist("alpha", "1.0"))
    built(jobs.job([part]), store, environ)
    (content,) = [item.content for item in jobs.job([part]).recipe.distributions]
    assert isinstance(content, Build)
    folder = Path(store.wheel(keys.wheel_key(content, jobs.job([part]).recipe.python)))
    (wheel,) = folder.glob("*.whl")
    wheel.write_bytes(b"torn")
    built(jobs.job([part, jobs.part(index, index.add_wheel("beta", "1.0"))]), store, environ)
    assert wheel.stat().st_size > 4
