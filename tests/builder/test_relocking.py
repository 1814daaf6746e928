from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import jobs

from greenroom.builder import relocking
from greenroom.builder.events import Event, Output, Phase
from greenroom.builder.resolutions import Resolutions
from greenroom.components import (
    EnvironmentSpec,
    Index,
    InlineSource,
    Options,
    Origin,
    RequirementsSource,
    ScriptSource,
)
from greenroom.errors import ExtraNotProvided, LockingFailed, RequirementsUnreadable, SecretInSource
from greenroom.locks import generated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.index import Index as TestIndex

    Project = Callable[..., Path]
    Source = RequirementsSource | InlineSource | ScriptSource


def spec(source: Source, root: Path, name: str = "s1", **options: Any) -> EnvironmentSpec:
    origin = Origin(file=str(root / "greenroom.toml"), line=3, key="[servers.s1]")
    return EnvironmentSpec(source=source, options=Options(**options), lock_name=name, origin=origin)


def locked(path: str) -> dict[str, dict[str, Any]]:
    table = tomllib.loads(Path(path).read_text())
    return {package["name"]: package for package in table["packages"]}


def lock(source: Source, root: Path, environ: Mapping[str, str], **more: Any) -> str:
    events: list[Event] = more.pop("events", [])
    options = more.pop("options", {})
    return relocking.lock(
        spec(source, root, **options),
        str(root),
        jobs.interpreter(),
        observer=events.append,
        environ=environ,
        component="s1",
        **more,
    )


def test_requirements_are_locked_with_urls_and_hashes(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    wheel = index.add_wheel("alpha", "1.0", ["beta"])
    index.add_wheel("beta", "2.0")
    root = project({"srv/requirements.txt": "alpha\n"})
    events: list[Event] = []
    path = lock(
        RequirementsSource(requirements=(str(root / "srv/requirements.txt"),)), root, environ, events=events
    )
    assert path == str(root / "greenroom.lock/pylock.s1.toml")
    packages = locked(path)
    assert set(packages) == {"alpha", "beta"}
    assert packages["alpha"]["wheels"][0]["url"] == index.file_url(wheel.name)
    assert packages["alpha"]["wheels"][0]["hashes"]["sha256"] == wheel.sha256
    assert any(isinstance(event, Phase) and event.phase == "lock" for event in events)
    assert sorted(entry.name for entry in root.iterdir()) == ["greenroom.lock", "srv"]
    assert [entry.name for entry in (root / "greenroom.lock").iterdir()] == ["pylock.s1.toml"]


def test_a_lock_is_fresh_when_it_was_just_written_and_stale_when_an_included_file_changes(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    index.add_wheel("alpha", "2.0")
    root = project(
        {
            "srv/requirements.txt": "-r ../common/base.txt\n-c ../common/limits.txt\n",
            "common/base.txt": "alpha\n",
            "common/limits.txt": "alpha<2\n",
        }
    )
    source = RequirementsSource(requirements=(str(root / "srv/requirements.txt"),))
    path = lock(source, root, environ)
    assert locked(path)["alpha"]["version"] == "1.0"
    assert generated.staleness(spec(source, root), str(root), environ) is None
    (root / "common/limits.txt").write_text("alpha<3\n")
    assert generated.staleness(spec(source, root), str(root), environ) is not None
    assert locked(lock(source, root, environ, upgrade=True))["alpha"]["version"] == "2.0"


def test_pins_are_kept_until_an_upgrade_is_asked_for(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    for name in ("alpha", "beta"):
        index.add_wheel(name, "1.0")
    root = project({})
    source = InlineSource(requirements=("alpha",), base=str(root))
    lock(source, root, environ)
    index.add_wheel("alpha", "2.0")
    more = InlineSource(requirements=("alpha", "beta"), base=str(root))
    refreshed = {**environ, "UV_CACHE_DIR": environ["UV_CACHE_DIR"] + "-other"}
    assert locked(lock(more, root, refreshed))["alpha"]["version"] == "1.0"
    assert locked(lock(more, root, refreshed, upgrade=True))["alpha"]["version"] == "2.0"


@pytest.mark.parametrize("limits", ["alpha<3\nbeta\n", "beta\n"])
def test_a_package_whose_own_line_changed_is_resolved_anew_and_no_other(
    index: TestIndex, project: Project, environ: dict[str, str], limits: str
) -> None:
    for version in ("1.0", "2.0"):
        index.add_wheel("alpha", version)
    index.add_wheel("beta", "1.0")
    files = {"r.txt": "-r inner/base.txt\n-c limits.txt\n", "inner/base.txt": "alpha\nbeta\n"}
    root = project({**files, "limits.txt": "alpha<2\nbeta\n"})
    source = RequirementsSource(requirements=(str(root / "r.txt"),))
    assert locked(lock(source, root, environ))["alpha"]["version"] == "1.0"
    index.add_wheel("beta", "2.0")
    refreshed = {**environ, "UV_CACHE_DIR": environ["UV_CACHE_DIR"] + "-other"}
    (root / "limits.txt").write_text(limits)
    now = locked(lock(source, root, refreshed))
    assert now["alpha"]["version"] == "2.0"
    assert now["beta"]["version"] == "1.0"


def test_sources_of_one_meaning_are_resolved_once_in_a_run(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    library = {"pyproject.toml": '[project]\nname = "lib"\nversion = "0"\ndependencies = ["alpha"]\n'}
    root = project(
        {
            **{f"lib/{name}": text for name, text in library.items()},
            **{f"servers/lib/{name}": text for name, text in library.items()},
            "servers/a/requirements.txt": "# one\n-e ../../lib\nalpha\n",
            "servers/b/requirements.txt": "-r more.txt\n",
            "servers/b/more.txt": "-e ../../lib\nalpha # the same\n",
            "servers/c/requirements.txt": "../../lib\nalpha\n",
            "servers/deep/d/requirements.txt": "-e ../../lib\nalpha\n",
        }
    )
    run = Resolutions()
    texts: dict[str, str] = {}
    for name in ("a", "b", "c", "deep/d"):
        source = RequirementsSource(requirements=(str(root / "servers" / name / "requirements.txt"),))
        own = name.replace("/", "-")
        path = lock(source, root, environ, options={"name": own}, resolutions=run)
        texts[name] = Path(path).read_text().partition("\n[tool.greenroom]\n")[0]
        assert generated.staleness(spec(source, root, own), str(root), environ) is None
    assert texts["a"] == texts["b"]
    assert len(set(texts.values())) == 3
    assert run.made == 3


def test_a_resolution_that_failed_is_asked_for_again() -> None:
    run = Resolutions()
    asked: list[str] = []

    def fail() -> str:
        asked.append("once")
        raise LockingFailed("no", component="", source="")

    for _ in range(2):
        with pytest.raises(LockingFailed):
            run.once("x", fail)
    assert len(asked) == 2
    assert run.once("x", lambda: "text") == run.once("x", fail) == "text"


def test_an_editable_and_a_copied_source_are_two_inputs(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    del index
    root = project({"lib/pyproject.toml": '[project]\nname = "lib"\nversion = "0"\n', "r.txt": "-e ./lib\n"})
    source = RequirementsSource(requirements=(str(root / "r.txt"),))
    lock(source, root, environ)
    (root / "r.txt").write_text("./lib\n")
    assert generated.staleness(spec(source, root), str(root), environ) == "r.txt changed"


def test_constraints_overrides_and_the_components_own_uv_settings_decide(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    for version in ("1.0", "2.0", "3.0"):
        for name in ("alpha", "beta", "gamma"):
            index.add_wheel(name, version)
    index.add_wheel("top", "1", ["beta==3.0"])
    root = project(
        {
            "srv/requirements.txt": "alpha\ntop\ngamma\n",
            "srv/constraints.txt": "alpha<3\n",
            "srv/overrides.txt": "beta==2.0\n",
            "srv/uv.toml": """
                constraint-dependencies = ["gamma<2"]
                link-mode = "symlink"
                [pip]
                no-deps = true
            """,
        }
    )
    source = RequirementsSource(
        requirements=(str(root / "srv/requirements.txt"),),
        constraints=(str(root / "srv/constraints.txt"),),
        overrides=(str(root / "srv/overrides.txt"),),
        config=str(root / "srv/uv.toml"),
        extra_requirements=("gamma>0",),
    )
    packages = locked(lock(source, root, environ))
    versions = {name: package["version"] for name, package in packages.items()}
    assert versions == {"alpha": "2.0", "beta": "2.0", "gamma": "1.0", "top": "1"}


def test_surrounding_projects_and_user_wide_settings_decide_nothing(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    index.add_wheel("alpha", "2.0", ["beta"])
    index.add_wheel("beta", "1.0")
    root = project(
        {
            "../pyproject.toml": '[tool.uv]\noverride-dependencies = ["alpha==1.0"]\n',
            "../uv.toml": 'override-dependencies = ["alpha==1.0"]\n',
            "srv/requirements.txt": "alpha\n",
        }
    )
    user = Path(environ["XDG_CONFIG_HOME"]) / "uv"
    user.mkdir(parents=True)
    (user / "uv.toml").write_text('constraint-dependencies = ["alpha<2"]\n[pip]\nno-deps = true\n')
    pollution = {
        "UV_OVERRIDE": str(root / "o.txt"),
        "UV_CONSTRAINT": str(root / "o.txt"),
        "UV_NO_DEPS": "1",
        "UV_RESOLUTION": "lowest",
        "UV_EXCLUDE_NEWER": "2000-01-01",
        "UV_PYTHON": "3.9",
        "VIRTUAL_ENV": str(root / "x"),
    }
    (root / "o.txt").write_text("alpha==1.0\n")
    source = RequirementsSource(requirements=(str(root / "srv/requirements.txt"),))
    packages = locked(lock(source, root, environ | pollution))
    assert {name: package["version"] for name, package in packages.items()} == {"alpha": "2.0", "beta": "1.0"}


def test_local_requirements_are_relative_in_the_lock_so_that_it_can_be_committed(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    from tests.support.distributions import write_source

    index.add_wheel("alpha", "1.0")
    root = project({"srv/requirements.txt": "../lib\n-e ../other\nalpha\n"})
    write_source(root / "lib", "tinylib", "1.0")
    write_source(root / "other", "otherlib", "1.0")
    source = RequirementsSource(requirements=(str(root / "srv/requirements.txt"),))
    packages = locked(lock(source, root, environ))
    assert packages["tinylib"]["directory"]["path"] == "../lib"
    assert packages["otherlib"]["directory"] == {"path": "../other", "editable": True}


def test_a_script_is_locked_with_its_own_sources_and_settings(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    from tests.support.distributions import write_source

    index.add_wheel("alpha", "1.0")
    index.add_wheel("alpha", "2.0")
    index.add_wheel("tinylib", "9.0")
    script = """\
# /// script
# requires-python = ">=3.10"
# dependencies = ["alpha", "tinylib"]
# [tool.uv]
# constraint-dependencies = ["alpha<2"]
# [tool.uv.sources]
# tinylib = { path = "../lib" }
# ///
print("hello")
"""
    root = project({"tools/run.py": script})
    write_source(root / "lib", "tinylib", "1.0")
    packages = locked(lock(ScriptSource(path=str(root / "tools/run.py")), root, environ))
    assert packages["alpha"]["version"] == "1.0"
    assert packages["tinylib"]["directory"]["path"] == "../lib"
    assert not (root / "tools/run.py.lock").exists()


def test_declared_indexes_count(another_index: TestIndex, project: Project, environ: dict[str, str]) -> None:
    another_index.add_wheel("alpha", "1.0")
    root = project({})
    declared = Index(name="second", url=another_index.url)
    source = InlineSource(requirements=("alpha",), base=str(root))
    packages = locked(lock(source, root, environ, options={"indexes": (declared,)}))
    assert packages["alpha"]["wheels"][0]["url"].startswith(another_index.root)


def test_variables_in_requirements_are_expanded(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    index.add_wheel("alpha", "2.0")
    root = project({"requirements.txt": "alpha==${PIN}\n"})
    source = RequirementsSource(requirements=(str(root / "requirements.txt"),))
    assert locked(lock(source, root, environ | {"PIN": "1.0"}))["alpha"]["version"] == "1.0"


def test_an_extra_that_a_package_does_not_have_names_the_line_that_asks_for_it(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0", extras={"fast": []})
    index.add_wheel("beta", "1.0", requires=["alpha[gone]"])
    root = project({"requirements.txt": "-r base.txt\n", "base.txt": "alpha[fast]\nbeta\n"})
    source = RequirementsSource(requirements=(str(root / "requirements.txt"),))
    lock(source, root, environ)  # what beta asks for is not the user's mistake
    (root / "base.txt").write_text("beta\nAlpha[Typo]\n")
    with pytest.raises(ExtraNotProvided, match=r"base\.txt:2: alpha 1\.0 has no extra 'typo'"):
        lock(source, root, environ)
    inline = InlineSource(requirements=("alpha[typo]",), base=str(root))
    with pytest.raises(ExtraNotProvided, match=r"greenroom\.toml:3 \[servers\.s1\]: alpha 1\.0 has no extra"):
        lock(inline, root, environ)


def test_what_cannot_be_resolved_is_said_in_uvs_words_and_leaves_the_old_lock(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    root = project({"requirements.txt": "alpha\n"})
    source = RequirementsSource(requirements=(str(root / "requirements.txt"),))
    path = Path(lock(source, root, environ))
    before = path.read_bytes()
    (root / "requirements.txt").write_text("alpha\nno-such-package-qwertz\n")
    events: list[Event] = []
    with pytest.raises(LockingFailed) as caught:
        lock(source, root, environ, events=events, log_directory=str(root))
    error = caught.value
    assert "no-such-package-qwertz was not found" in error.cause
    assert error.component == "s1"
    assert str(root / "requirements.txt") in str(error)
    assert "\n" not in str(error)
    assert error.log is not None
    assert "no-such-package-qwertz" in Path(error.log).read_text()
    assert any(isinstance(event, Output) and "no-such-package" in event.line for event in events)
    assert path.read_bytes() == before
    assert not [entry for entry in root.iterdir() if entry.name.startswith(".greenroom")]


def test_a_missing_include_names_file_and_line(project: Project, environ: dict[str, str]) -> None:
    root = project({"requirements.txt": "\n-r nothing.txt\n"})
    with pytest.raises(RequirementsUnreadable, match=r"requirements\.txt:2"):
        lock(RequirementsSource(requirements=(str(root / "requirements.txt"),)), root, environ)


def test_credentials_of_an_index_are_in_no_lock_and_in_no_output(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    index.require_login("bob", "S3CRETPW")
    root = project({"requirements.txt": "alpha\n"})
    source = RequirementsSource(requirements=(str(root / "requirements.txt"),))
    secret = environ | {"UV_DEFAULT_INDEX": index.url_with("bob", "S3CRETPW")}
    events: list[Event] = []
    path = Path(lock(source, root, secret, events=events, log_directory=str(root)))
    assert "S3CRETPW" not in path.read_text()
    assert "bob" not in path.read_text()
    wrong = environ | {"UV_DEFAULT_INDEX": index.url_with("bob", "S3CRETPX")}
    wrong["UV_CACHE_DIR"] += "-other"
    with pytest.raises(LockingFailed) as caught:
        lock(source, root, wrong, events=events, log_directory=str(root), upgrade=True)
    said = repr(events) + str(caught.value) + repr(caught.value.output)
    said += "".join(log.read_text() for log in root.glob("*.log"))
    assert "S3CRETP" not in said


def test_a_credential_in_a_requirements_file_is_refused(project: Project, environ: dict[str, str]) -> None:
    root = project({"requirements.txt": "--index-url http://bob:S3CRETPW@127.0.0.1:9/simple\nalpha\n"})
    with pytest.raises(SecretInSource) as caught:
        lock(RequirementsSource(requirements=(str(root / "requirements.txt"),)), root, environ)
    assert "S3CRETPW" not in str(caught.value)


def test_offline_uses_the_cache_and_says_what_is_not_in_it(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    index.add_wheel("alpha", "1.0")
    root = project({})
    source = InlineSource(requirements=("alpha",), base=str(root))
    lock(source, root, environ)
    index.fault("*", status=500)
    assert locked(lock(source, root, environ, offline=True))["alpha"]["version"] == "1.0"
    with pytest.raises(LockingFailed, match="beta"):
        lock(InlineSource(requirements=("beta",), base=str(root)), root, environ, offline=True)


def test_a_folder_of_a_killed_process_is_removed_by_the_next(
    index: TestIndex, project: Project, environ: dict[str, str]
) -> None:
    import socket
    import subprocess

    index.add_wheel("alpha", "1.0")
    root = project({})
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    left = root / f".greenroom.lock-{socket.gethostname()}-{ended.pid}-abc"
    left.mkdir()
    lock(InlineSource(requirements=("alpha",), base=str(root)), root, environ)
    assert not left.exists()
