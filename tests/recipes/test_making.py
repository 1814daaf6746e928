"""From locked data comes the recipe: one file for each distribution, and what its builds depend on."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import targets

from greenroom.components import EnvironmentSpec, Index, InlineSource, Options, Origin, ProjectSource
from greenroom.errors import BuildNeedsRuntime, BuildOrderLoop, MissingHash, NoMatchingFile
from greenroom.locks import projects
from greenroom.locks.model import BuildSettings, Commit, Directory, File, Locked, Selection
from greenroom.recipes import keys, local, making
from greenroom.recipes.model import Build, Editable, Late, Wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.workspace import Outcome

    from greenroom.recipes.model import Recipe, Supply

TARGET = targets.linux("3.11.7")
CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "nemo-rl"


def file(name: str, sha256: str | None = "00", location: str = "") -> File:
    return File(name=name, location=location or f"https://h/{name}", sha256=sha256)


def wheel(name: str, version: str = "1.0", tag: str = "py3-none-any", sha256: str = "00") -> Locked:
    return Locked(
        name=name,
        version=version,
        index="https://i/simple",
        wheels=(file(f"{name}-{version}-{tag}.whl", sha256),),
    )


def sdist(name: str, sha256: str = "11") -> Locked:
    return Locked(name=name, version="1.0", sdist=file(f"{name}-1.0.tar.gz", sha256))


def git(name: str, commit: str = "abc") -> Locked:
    return Locked(name=name, version="1.0", commit=Commit(url="https://g/x", commit=commit, subdirectory="d"))


def folder(name: str, path: Path | str, **more: Any) -> Locked:
    return Locked(name=name, version="1.0", directory=Directory(path=str(path), editable=False, **more))


def edited(name: str, path: Path | str) -> Locked:
    return Locked(name=name, version="1.0", directory=Directory(path=str(path), editable=True))


def make(
    *locked: Locked,
    settings: BuildSettings | None = None,
    environ: Mapping[str, str] | None = None,
    **options: Any,
) -> tuple[Recipe, Supply]:
    spec = EnvironmentSpec(
        source=InlineSource(requirements=(), base="/"),
        options=Options(**options),
        lock_name="x",
        origin=Origin(file="greenroom.toml", line=5, key='[actors] "app.A"'),
    )
    ordered = tuple(sorted(locked, key=lambda one: one.name))
    selection = Selection(distributions=ordered, settings=settings or BuildSettings(), files=())
    return making.make(spec, selection, TARGET, environ or {})


def build(recipe: Recipe, name: str) -> Build:
    content = {one.name: one.content for one in recipe.distributions}[name]
    assert isinstance(content, Build)
    return content


def key(*locked: Locked, **options: Any) -> str:
    return keys.key(make(*locked, **options)[0])


def test_each_kind_of_lock_entry_becomes_its_content(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("x")
    archive = Locked(name="zip", version="1", archive=file("zip-1.zip", "22"), archive_subdirectory="in")
    direct = Locked(name="direct", version="1", archive=file("direct-1-py3-none-any.whl", "33"))
    recipe, supply = make(
        wheel("one"),
        sdist("two"),
        git("three"),
        archive,
        direct,
        folder("lib", tmp_path / "lib"),
        edited("app", tmp_path),
    )
    found = {one.name: one.content for one in recipe.distributions}
    assert found["one"] == Wheel(file="one-1.0-py3-none-any.whl", sha256="00")
    assert found["direct"] == Wheel(file="direct-1-py3-none-any.whl", sha256="33")
    assert found["app"] == Editable(path=str(tmp_path))
    assert build(recipe, "two").source == "sha256:11"
    assert (build(recipe, "three").source, build(recipe, "three").subdirectory) == ("git:abc", "d")
    assert (build(recipe, "zip").source, build(recipe, "zip").subdirectory) == ("sha256:22", "in")
    assert build(recipe, "lib").source == f"tree:{local.tree_digest(str(tmp_path / 'lib'))}"
    assert supply.local == ("app", "lib")
    assert [one.name for one in supply.origins] == [one.name for one in recipe.distributions]
    assert str(tmp_path / "lib/a.py") in supply.files
    assert dict(supply.metadata).keys() == {"app"}


def test_a_virtual_project_is_not_installed() -> None:
    recipe, supply = make(folder("app", "/x", virtual=True), wheel("one"))
    assert [one.name for one in recipe.distributions] == ["one"]
    assert supply.notes == ()


def test_without_local_sources_they_are_dropped(tmp_path: Path) -> None:
    recipe, supply = make(edited("app", tmp_path), folder("lib", tmp_path), wheel("one"), install_local=False)
    assert [one.name for one in recipe.distributions] == ["one"]
    assert supply.local == ()


def test_a_late_package_is_its_name_and_version_whatever_its_source(tmp_path: Path) -> None:
    recipe, _ = make(
        folder("Late-One".lower(), tmp_path / "gone"), wheel("two"), late_packages=("late_one", "none")
    )
    late = recipe.distributions[0]
    assert (late.version, late.content) == ("1.0", Late())


def test_what_no_file_fits_is_said_with_what_there_is() -> None:
    with pytest.raises(NoMatchingFile) as caught:
        make(wheel("one", tag="cp312-cp312-win_amd64"))
    words = str(caught.value)
    assert 'greenroom.toml:5 [actors] "app.A"' in words
    assert "one 1.0 has nothing to install for cpython 3.11.7 on linux-x86_64" in words
    assert "cp312-cp312-win_amd64" in words


def test_builds_and_binaries_can_be_refused() -> None:
    both = replace(wheel("one"), sdist=file("one-1.0.tar.gz", "11"))
    recipe, _ = make(both, settings=BuildSettings(no_binary=("one",)))
    assert build(recipe, "one").source == "sha256:11"
    with pytest.raises(NoMatchingFile, match="no-binary"):
        make(wheel("one"), settings=BuildSettings(no_binary=(":all:",)))
    with pytest.raises(NoMatchingFile, match="no-build"):
        make(sdist("one"), settings=BuildSettings(no_build=("one",)))


def test_a_file_without_a_hash_is_refused_unless_it_can_be_read(tmp_path: Path) -> None:
    remote = Locked(name="one", version="1", wheels=(file("one-1-py3-none-any.whl", None),))
    with pytest.raises(MissingHash, match="one 1"):
        make(remote)
    path = tmp_path / "one-1-py3-none-any.whl"
    path.write_bytes(b"wheel")
    near = replace(remote, wheels=(file(path.name, None, str(path)),))
    recipe, supply = make(near)
    assert recipe.distributions[0].content == Wheel(
        file=path.name, sha256=hashlib.sha256(b"wheel").hexdigest()
    )
    assert str(path) in supply.files


def test_what_makes_no_content_is_not_in_the_key(tmp_path: Path) -> None:
    plain = key(wheel("one"), edited("app", tmp_path))
    more = (
        wheel("one").wheels[0],
        file("one-1.0-cp312-cp312-win_amd64.whl", "99"),
        file("one-1.0-cp311-cp311-macosx_11_0_arm64.whl", "98"),
    )
    other_index = replace(
        wheel("one"), index="https://elsewhere/simple", wheels=more, sdist=file("one-1.0.tar.gz")
    )
    assert key(other_index, edited("app", tmp_path)) == plain
    index = Index(name="x", url="https://x/simple")
    for options in (
        {"indexes": (index,)},
        {"link_mode": "copy"},
        {"smoke": ("import one",)},
        {"build_env": (("A", "1"),)},
    ):
        assert key(wheel("one"), edited("app", tmp_path), **options) == plain


def test_what_makes_content_is_in_the_key(tmp_path: Path) -> None:
    options: list[dict[str, Any]] = [
        {"post_install": (("true",),)},
        {"compile_bytecode": False},
        {"allow_clash": ("one",)},
        {"install_local": False},
        {"late_packages": ("one",)},
    ]
    found = [key(wheel("one"), edited("app", tmp_path), **more) for more in ({}, *options)]
    found += [
        key(wheel("one", version="1.1"), edited("app", tmp_path)),
        key(wheel("one", sha256="01"), edited("app", tmp_path)),
        key(wheel("one"), edited("app", tmp_path / "elsewhere")),
    ]
    assert len(set(found)) == len(found)


def test_code_and_version_of_an_editable_are_not_in_the_key_and_metadata_is_in_the_supply(
    tmp_path: Path,
) -> None:
    before, supply = make(edited("app", tmp_path))
    (tmp_path / "code.py").write_text("x")
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\napp = "app:main"\n')
    after, changed = make(replace(edited("app", tmp_path), version="2"))
    assert keys.key(after) == keys.key(before)
    assert local.changes(supply.metadata, changed.metadata) == (
        "the metadata of app changed (entry points, build system or version)",
    )


def test_an_edit_in_a_copied_source_changes_the_key_and_its_time_does_not(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("V = 1\n")
    before = key(folder("lib", tmp_path))
    (tmp_path / "m.py").touch()
    assert key(folder("lib", tmp_path)) == before
    (tmp_path / "m.py").write_text("V = 2\n")
    assert key(folder("lib", tmp_path)) != before


def test_a_source_reached_through_a_link_is_the_same_source(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert key(edited("app", tmp_path / "link")) == key(edited("app", tmp_path / "real"))


def test_absent_sources_are_one_note_each_kind(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    _, supply = make(edited("a", gone), edited("b", gone), folder("c", gone))
    assert supply.notes == (
        f"sources to be built in when they are there: a ({gone}), b ({gone})",
        f"sources whose content decides the key and which are absent: c ({gone})",
    )


def test_build_inputs_count_for_builds_only() -> None:
    settings = BuildSettings(
        build_constraints=("setuptools<70",),
        config_settings=(("all", '"1"'),),
        config_settings_package=(("two", (("one", '"2"'),)),),
        extra_build_variables=(("two", (("FLAG", "own"),)),),
    )
    environ = {"CUDA_HOME": "/cuda", "FLAG": "theirs"}
    wanted = (("CUDA_HOME", None), ("MAX_JOBS", None), ("FLAG", None), ("FIXED", "f"))
    recipe, supply = make(wheel("one"), sdist("two"), settings=settings, environ=environ, build_env=wanted)
    inputs = build(recipe, "two").inputs
    assert inputs.constraints == ("setuptools<70",)
    assert inputs.settings == (("all", '"1"'), ("one", '"2"'))
    assert inputs.variables == (("CUDA_HOME", "/cuda"), ("FIXED", "f"), ("FLAG", "own"), ("MAX_JOBS", None))
    assert supply.build_env == (
        ("CUDA_HOME", "/cuda"),
        ("FIXED", "f"),
        ("FLAG", "theirs"),
        ("MAX_JOBS", None),
    )


def test_extra_build_requirements_follow_the_environment() -> None:
    requires = (
        (
            "two",
            (
                ("ninja>=1; sys_platform == 'linux'", False),
                ("torch", True),
                ("never; sys_platform == 'x'", False),
            ),
        ),
    )
    settings = BuildSettings(extra_build_requires=requires)
    recipe, _ = make(wheel("torch", "2.11.0", sha256="77"), sdist("two"), settings=settings)
    inputs = build(recipe, "two").inputs
    assert inputs.isolated
    assert inputs.requires == ('ninja>=1; sys_platform == "linux"', "torch==2.11.0")
    assert inputs.sees == ("torch==2.11.0@77",)
    with pytest.raises(BuildNeedsRuntime, match="build of two follows the environment's torch"):
        make(sdist("two"), settings=settings)


def sees(recipe: Recipe, name: str) -> list[str]:
    inputs = build(recipe, name).inputs
    assert not inputs.isolated
    return [one.split("==")[0] for one in inputs.sees]


def test_a_build_without_isolation_sees_wheels_and_isolated_builds_but_no_local_source(
    tmp_path: Path,
) -> None:
    settings = BuildSettings(no_build_isolation=("kernel", "other"))
    locked = (
        wheel("torch"),
        sdist("plain"),
        git("kernel"),
        git("other", "def"),
        edited("app", tmp_path),
        folder("lib", tmp_path),
    )
    recipe, _ = make(*locked, settings=settings)
    assert sees(recipe, "kernel") == ["plain", "torch"]
    assert sees(recipe, "other") == ["plain", "torch"]
    assert build(recipe, "plain").inputs.isolated


def test_a_declared_chain_sees_its_earlier_links() -> None:
    chain = (("first", ()), ("second", ()), ("third", ("torch", "first", "gone")))
    locked = (wheel("torch"), wheel("numpy"), git("first"), git("second", "2"), git("third", "3"))
    recipe, _ = make(*locked, no_build_isolation=chain)
    assert sees(recipe, "first") == ["numpy", "torch"]
    assert sees(recipe, "second") == ["first", "numpy", "torch"]
    assert sees(recipe, "third") == ["first", "torch"]
    narrow, _ = make(*locked[:1], *locked[2:], no_build_isolation=chain)
    assert build(narrow, "third") == replace(
        build(recipe, "third"),
        inputs=replace(build(recipe, "third").inputs, sees=build(narrow, "third").inputs.sees),
    )


def test_what_a_build_sees_is_in_its_wheels_name() -> None:
    chain = (("second", ("first",)),)
    one, _ = make(git("first"), git("second"), no_build_isolation=chain)
    other, _ = make(git("first", "another"), git("second"), no_build_isolation=chain)
    names = {keys.wheel_key(build(recipe, "second"), recipe.python) for recipe in (one, other)}
    assert len(names) == 2


def test_a_chain_can_follow_from_extra_build_requirements() -> None:
    settings = BuildSettings(
        no_build_isolation=(":all:",), extra_build_requires=(("a-late", (("z-early", False),)),)
    )
    recipe, _ = make(git("a-late"), git("z-early", "2"), wheel("torch"), settings=settings)
    assert sees(recipe, "z-early") == ["torch"]
    assert sees(recipe, "a-late") == ["torch", "z-early"]


def test_a_chain_that_closes_is_refused() -> None:
    with pytest.raises(BuildOrderLoop, match="a → b → a"):
        make(git("a"), git("b"), no_build_isolation=(("a", ("b",)), ("b", ("a",))))


def test_clash_winners_are_those_that_are_there() -> None:
    recipe, _ = make(wheel("one"), wheel("two"), allow_clash=("Two", "none", "two"))
    assert recipe.last == ("two",)


def project_spec(directory: Path, *extras: str) -> EnvironmentSpec:
    source = ProjectSource(directory=str(directory), extras=extras)
    origin = Origin(file="greenroom.toml", line=1, key="")
    return EnvironmentSpec(
        source=source, options=Options(late_packages=("tensorrt-llm",)), lock_name="x", origin=origin
    )


def project_key(directory: Path, *extras: str) -> str:
    spec = project_spec(directory, *extras)
    assert isinstance(spec.source, ProjectSource)
    target = targets.linux("3.13.14")
    return keys.key(making.make(spec, projects.select(spec.source, target, where="x"), target, {})[0])


def test_keys_are_the_same_before_the_members_are_there(
    index: Any, project: Callable[..., Path], uv_lock: Callable[..., Outcome], tmp_path: Path
) -> None:
    index.add_wheel("iniconfig", "2.0.0")
    directory = project(
        {
            "pyproject.toml": '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11"\n'
            'dependencies = ["a", "b"]\n[build-system]\nrequires = []\nbuild-backend = "x"\n'
            '[tool.uv.workspace]\nmembers = ["m/*"]\n'
            "[tool.uv.sources]\na = {workspace = true}\nb = {workspace = true}\n",
            "m/a/pyproject.toml": '[project]\nname = "a"\nversion = "1"\ndependencies = ["iniconfig"]\n',
            "m/b/pyproject.toml": '[project]\nname = "b"\nversion = "1"\n',
            "app.py": "",
        }
    )
    uv_lock(directory)
    full = project_key(directory)
    for path in ("m/a/pyproject.toml", "m/b/pyproject.toml", "app.py"):
        (directory / path).rename(tmp_path / path.replace("/", "-"))
    for path in ("m/a", "m/b", "m"):
        (directory / path).rmdir()
    assert sorted(path.name for path in directory.iterdir()) == ["pyproject.toml", "uv.lock"]
    assert project_key(directory) == full


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the real lock is not beside this checkout")
def test_the_real_lock_gives_nine_contents_for_ten_sets() -> None:
    sets = (
        ("vllm",),
        ("sglang",),
        ("automodel",),
        ("mcore", "nemo_gym"),
        ("mcore",),
        ("trtllm",),
        ("nemo_gym",),
        ("modelopt", "vllm"),
        ("modelopt", "automodel"),
        ("modelopt", "mcore"),
    )
    found = {extras: project_key(CORPUS, *extras) for extras in sets}
    assert found["mcore",] == found["modelopt", "mcore"]  # mcore brings modelopt along
    assert len(set(found.values())) == 9
    assert project_key(CORPUS, "nemo_gym", "mcore", "nemo-gym") == found["mcore", "nemo_gym"]
