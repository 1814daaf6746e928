"""What greenroom reads in uv.lock is what uv itself gives: for made-up workspaces and a real lock."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import distributions, exporting, targets

from greenroom.components import EnvironmentSpec, Options, Origin, ProjectSource
from greenroom.errors import ExtrasConflict, GreenroomError, UnknownExtra, UnknownGroup
from greenroom.locks import projects
from greenroom.recipes import making
from greenroom.recipes.model import Build, Distribution, Editable, Wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.index import Index
    from tests.support.workspace import Command, Outcome

    from greenroom.interpreters.model import Interpreter
    from greenroom.recipes.model import Supply

ORIGIN = Origin(file="greenroom.toml", line=2, key='[actors] "app.A"')
CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "nemo-rl"
TARGETS = (targets.linux("3.11.7"), targets.linux("3.13.14", machine="aarch64"), targets.macos("3.12.1"))

HEAD = """
[project]
name = "app"
version = "0"
requires-python = ">=3.11"
"""
BUILD = """
[build-system]
requires = []
build-backend = "own_backend"
backend-path = ["."]
"""
CONFLICT = (
    HEAD
    + """
dependencies = ["shared"]
[project.optional-dependencies]
a = ["iniconfig==2.0.0"]
b = ["iniconfig==1.1.1", "shared[more]"]
c = ["pygments"]
all = ["app[c]", "typed"]
[dependency-groups]
dev = ["pygments"]
lint = ["iniconfig<2"]
[tool.uv]
conflicts = [[{extra = "a"}, {extra = "b"}], [{extra = "a"}, {group = "lint"}]]
"""
)
GROUPS = (
    HEAD
    + """
dependencies = ["shared"]
[dependency-groups]
dev = ["pygments"]
test = ["iniconfig", {include-group = "typing"}]
typing = ["typed"]
empty = []
[tool.uv]
default-groups = ["test"]
"""
)
FORKS = (
    HEAD
    + """
dependencies = [
    "iniconfig==1.1.1; python_version < '3.12'",
    "iniconfig==2.0.0; python_version >= '3.12'",
    "pygments==2.18.0; sys_platform == 'darwin'",
    "pygments==2.17.0; sys_platform != 'darwin'",
    "shared[more]; platform_machine == 'aarch64'",
    "native",
]
"""
)
MEMBERS = {
    "pyproject.toml": HEAD
    + """
dependencies = ["one"]
[project.optional-dependencies]
gym = ["two[fast]"]
vllm = ["iniconfig==1.1.1"]
slow = ["two[slow]"]
[tool.uv]
conflicts = [
    [{package = "app", extra = "vllm"}, {package = "two", extra = "fast"}],
    [{package = "app", extra = "slow"}, {package = "two", extra = "slow"}],
]
[tool.uv.workspace]
members = ["members/*"]
[tool.uv.sources]
one = {workspace = true}
two = {workspace = true}
[dependency-groups]
dev = ["pygments"]
tools = ["typed", "pygments"]
""",
    "members/one/pyproject.toml": '[project]\nname = "one"\nversion = "1"\ndependencies = ["shared"]\n'
    '[project.optional-dependencies]\nmore = ["pygments"]\n[dependency-groups]\ndev = ["typed"]\n'
    "[tool.uv]\ndefault-groups = []\n",
    "members/two/pyproject.toml": '[project]\nname = "two"\nversion = "2"\ndependencies = ["typed"]\n'
    '[project.optional-dependencies]\nfast = ["iniconfig==2.0.0"]\nslow = ["pygments"]\nvllm = ["shared"]\n',
}
BARE = {
    "pyproject.toml": '[tool.uv.workspace]\nmembers = ["members/*"]\n'
    '[dependency-groups]\ndev = ["pygments"]\nlint = ["iniconfig; python_version < \'3.12\'"]\n',
    "members/one/pyproject.toml": MEMBERS["members/one/pyproject.toml"],
    "members/two/pyproject.toml": MEMBERS["members/two/pyproject.toml"],
}


def populate(index: Index) -> None:
    """Serve what the workspaces need."""
    for version in ("1.1.1", "2.0.0"):
        index.add_wheel("iniconfig", version)
    for version in ("2.17.0", "2.18.0"):
        index.add_wheel("pygments", version)
    index.add_wheel("typed", "1.0", requires=["iniconfig; extra == 'never'"])
    index.add_wheel(
        "shared", "1.0", requires=["typed; python_full_version >= '3.12'"], extras={"more": ["pygments"]}
    )
    index.add_wheel("shared", "0.9")
    for tag in (
        "cp311-cp311-manylinux_2_17_x86_64",
        "cp311-abi3-manylinux_2_28_x86_64",
        "cp312-cp312-macosx_11_0_arm64",
    ):
        index.add_wheel("native", "1.0", tag=tag)
    index.add_sdist("native", "1.0")
    index.add_sdist("source-only", "1.0")


def ask(*extras: str, **more: Any) -> ProjectSource:
    return ProjectSource(directory="", extras=extras, **more)


def made(source: ProjectSource, target: Interpreter) -> tuple[tuple[Distribution, ...], Supply]:
    spec = EnvironmentSpec(source=source, options=Options(), lock_name="x", origin=ORIGIN)
    recipe, supply = making.make(spec, projects.select(source, target, where=str(ORIGIN)), target, {})
    return recipe.distributions, supply


def said(one: Distribution, origin: str) -> str:
    """Return a distribution as the reference's answer is written."""
    content = one.content
    if isinstance(content, Wheel):
        return f"file {content.sha256}"
    if isinstance(content, Editable):
        return f"editable {content.path}"
    assert isinstance(content, Build)
    kind, _, digest = content.source.partition(":")
    if kind == "git":
        return f"git {digest} {content.subdirectory or ''}".strip()
    return f"file {digest}" if kind == "sha256" else f"directory {origin}"


def check(uv: Command, source: ProjectSource, target: Interpreter, folder: Path) -> None:
    """Compare one request on one target with uv's own answer."""
    folder.mkdir(exist_ok=True)
    theirs = exporting.exported(uv, source, target, folder)
    if not isinstance(theirs, dict):
        with pytest.raises((ExtrasConflict, UnknownExtra, UnknownGroup)):
            projects.select(source, target, where=str(ORIGIN))
        return
    distributions_, supply = made(source, target)
    places = {one.name: one.directory.path for one in supply.origins if one.directory}
    ours = {one.name: said(one, places.get(one.name, "")) for one in distributions_}
    assert ours == theirs


def check_all(uv: Command, directory: Path, requests: Sequence[ProjectSource], folder: Path) -> None:
    for request in requests:
        source = ProjectSource(
            directory=str(directory),
            package=request.package,
            extras=request.extras,
            groups=request.groups,
            default_groups=request.default_groups,
        )
        for target in TARGETS:
            check(uv, source, target, folder)


WORKSPACES: dict[str, tuple[dict[str, str], list[ProjectSource]]] = {
    "conflicting extras": (
        {"pyproject.toml": CONFLICT},
        [ask(), ask("a"), ask("b"), ask("c"), ask("a", "c"), ask("all"), ask("b", "all"), ask("a", "b")],
    ),
    "an extra against a group": (
        {"pyproject.toml": CONFLICT},
        [ask("a", groups=("lint",)), ask("b", groups=("lint",)), ask(groups=("lint",)), ask("nonsense")],
    ),
    "groups": (
        {"pyproject.toml": GROUPS},
        [
            ask(),
            ask(groups=("dev",)),
            ask(default_groups=False),
            ask(groups=("typing", "empty"), default_groups=False),
        ],
    ),
    "all groups by default": (
        {"pyproject.toml": GROUPS.replace('["test"]', '"all"')},
        [ask(), ask(default_groups=False), ask(groups=("nonsense",))],
    ),
    "forks": ({"pyproject.toml": FORKS}, [ask()]),
    "members": (
        MEMBERS,
        [
            ask(),
            ask("gym"),
            ask("vllm"),
            ask("gym", "vllm"),
            ask("slow"),
            ask(package="one"),
            ask("more", package="one", groups=("dev",)),
            ask(package="one", groups=("tools",)),
            ask(package="two", groups=("tools",), default_groups=False),
            ask(groups=("tools",)),
            ask("fast", package="two"),
            ask("vllm", package="two"),
        ],
    ),
    "a root without a project": (
        BARE,
        [
            ask(),
            ask("more"),
            ask(groups=("lint",)),
            ask(default_groups=False),
            ask(package="two", groups=("lint",)),
        ],
    ),
}


@pytest.mark.parametrize("name", WORKSPACES)
def test_selection_is_uvs(
    name: str,
    index: Index,
    project: Callable[..., Path],
    uv: Command,
    uv_lock: Callable[..., Outcome],
    tmp_path: Path,
) -> None:
    populate(index)
    files, requests = WORKSPACES[name]
    directory = project(files)
    uv_lock(directory)
    check_all(uv, directory, requests, tmp_path / "export")


def test_every_kind_of_source_is_uvs(
    index: Index,
    project: Callable[..., Path],
    uv: Command,
    uv_lock: Callable[..., Outcome],
    tmp_path: Path,
) -> None:
    populate(index)
    file, content, _ = distributions.wheel("local-wheel", "1.0")
    sdist, archive, _ = distributions.sdist("local-sdist", "1.0")
    git = distributions.write_source(tmp_path / "git" / "inner", "from-git", "1.0").parent
    for command in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "x")):
        subprocess.run(("git", "-c", "user.name=x", "-c", "user.email=x@x", *command), cwd=git, check=True)
    directory = project({f"files/{file}": content, f"files/{sdist}": archive})
    for name in ("copied", "edited"):
        distributions.write_source(directory / name, name, "1.0")
    url = index.file_url(index.add_wheel("from-url", "1.0").name)
    flat, flat_content, _ = distributions.wheel("flat", "1.0")
    pyproject = f"""
[project]
name = "app"
version = "0"
requires-python = ">=3.11"
dependencies = [
    "local-wheel", "local-sdist", "from-git", "copied", "edited", "virtual", "flat", "source-only",
    "from-url @ {url}",
]
[tool.uv.sources]
local-wheel = {{path = "files/{file}"}}
local-sdist = {{path = "files/{sdist}"}}
from-git = {{git = "{git.as_uri()}", branch = "main", subdirectory = "inner"}}
copied = {{path = "copied"}}
edited = {{path = "edited", editable = true}}
virtual = {{path = "virtual", package = false}}
flat = {{index = "flat"}}
[[tool.uv.index]]
name = "flat"
url = "./links"
format = "flat"
explicit = true
"""
    virtual = '[project]\nname = "virtual"\nversion = "1"\ndependencies = ["typed"]\n'
    project({"pyproject.toml": pyproject, "virtual/pyproject.toml": virtual, f"links/{flat}": flat_content})
    uv_lock(directory)
    check_all(uv, directory, [ask()], tmp_path / "export")


SETS = (
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
    ("vllm", "nemo_gym"),
)
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the real lock is not beside this checkout")


@needs_corpus
@pytest.mark.parametrize("extras", SETS, ids="+".join)
def test_the_real_lock_is_read_as_uv_reads_it(
    extras: tuple[str, ...], uv: Command, project: Callable[..., Path], tmp_path: Path
) -> None:
    directory = project({name: (CORPUS / name).read_bytes() for name in ("pyproject.toml", "uv.lock")})
    source = ProjectSource(directory=str(directory), extras=extras)
    check(uv, source, targets.linux("3.13.14"), tmp_path / "export")


@needs_corpus
def test_the_real_conflict_is_named_with_the_way_that_it_comes() -> None:
    source = ProjectSource(directory=str(CORPUS), extras=("vllm", "nemo_gym"))
    with pytest.raises(ExtrasConflict) as caught:
        projects.select(source, targets.linux("3.13.14"), where=str(ORIGIN))
    error = caught.value
    assert set(error.conflict) == {"nemo-rl[vllm]", "nemo-gym[vllm]"}
    assert error.through == ("nemo-gym comes through nemo-rl[nemo-gym]",)
    assert str(ORIGIN) in str(error)


def test_a_conflict_that_the_graph_brings_is_named_with_its_way(
    index: Index, project: Callable[..., Path], uv_lock: Callable[..., Outcome]
) -> None:
    populate(index)
    directory = project(MEMBERS)
    uv_lock(directory)
    source = ProjectSource(directory=str(directory), extras=("gym", "vllm"))
    with pytest.raises(ExtrasConflict) as caught:
        projects.select(source, TARGETS[0], where=str(ORIGIN))
    assert caught.value.through == ("two[fast] comes through app[gym]",)
    assert isinstance(caught.value, GreenroomError)
