"""A server is its directory: what is in it, how it is found, and what it is called."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.workspace import write_files

from greenroom import errors
from greenroom.components import InlineSource, ProjectSource, RequirementsSource
from greenroom.declaration.discovery import matching
from greenroom.declaration.naming import lock_names, suffixes
from greenroom.declaration.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from greenroom.components import Component

PROJECT = "[project]\nname = 'p'\nversion = '0'\n[project.optional-dependencies]\nfast = []\n"


@pytest.fixture
def servers(tmp_path: Path) -> Callable[..., dict[str, Component]]:
    """Read a declaration beside a tree of files."""

    def found(text: str, *paths: str) -> dict[str, Component]:
        write_files(tmp_path, dict.fromkeys(paths, "") | {"greenroom.toml": text})
        return {one.name: one for one in read(str(tmp_path / "greenroom.toml"), {}).components}

    return found


def complaint(servers: Callable[..., dict[str, Component]], *arguments: str) -> str:
    with pytest.raises(errors.Problems) as caught:
        servers(*arguments)
    (line,) = caught.value.lines()
    return line


def source(one: Component) -> object:
    assert one.spec is not None
    return one.spec.source


# --- what is in a directory ---


def test_requirements_go_with_the_files_beside_them(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    names = ("requirements.txt", "constraints.txt", "overrides.txt", "build-constraints.txt", "uv.toml")
    text = "[servers.s]\npath = 'srv'\ncommand = ['python', 'a b.py', '--port', '{port}']\n"
    found = servers(text, *(f"srv/{name}" for name in names))["s"]
    srv = str(tmp_path / "srv")
    assert source(found) == RequirementsSource(
        requirements=(f"{srv}/requirements.txt",),
        constraints=(f"{srv}/constraints.txt",),
        overrides=(f"{srv}/overrides.txt",),
        build_constraints=(f"{srv}/build-constraints.txt",),
        config=f"{srv}/uv.toml",
    )
    assert (found.kind, found.launch.directory) == ("server", srv)
    assert found.launch.command == ("python", "a b.py", "--port", "{port}")


def test_a_locked_project_is_a_uv_project_with_its_own_extras(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv/pyproject.toml").write_text(PROJECT)
    found = servers("[servers.s]\npath = 'srv'\nextras = ['fast']\n", "srv/uv.lock")["s"]
    assert source(found) == ProjectSource(directory=str(tmp_path / "srv"), extras=("fast",))
    line = complaint(servers, "[servers.s]\npath = 'srv'\nextras = ['fats']\n")
    assert "extra 'fats' is not declared by" in line
    assert "did you mean 'fast'?" in line


def test_a_project_without_lock_is_installed_editable(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    srv = str(tmp_path / "srv")
    found = servers("[servers.s]\npath = 'srv'\n", "srv/pyproject.toml")["s"]
    assert source(found) == InlineSource(requirements=("-e .",), base=srv)
    found = servers("[servers.s]\npath = 'srv'\nextras = ['a', 'b']\n", "srv/overrides.txt")["s"]
    assert source(found) == RequirementsSource(
        requirements=(),
        extra_requirements=("-e .[a,b]",),
        base=srv,
        overrides=(f"{srv}/overrides.txt",),
    )
    assert "uv lock" in complaint(servers, "[servers.s]\npath = 'srv'\ngroups = ['g']\n")
    (tmp_path / "srv/pyproject.toml").write_text(PROJECT)
    assert "did you mean 'fast'?" in complaint(servers, "[servers.s]\npath = 'srv'\nextras = ['fats']\n")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("srv/requirements.txt", "srv/pyproject.toml"), "both requirements.txt and pyproject.toml"),
        (("srv/app.py",), "neither requirements.txt nor pyproject.toml"),
        ((), "is no directory"),
        (("srv",), "is no directory"),
    ],
)
def test_a_directory_that_says_nothing_or_two_things_is_an_error(
    files: tuple[str, ...], words: str, servers: Callable[..., dict[str, Component]]
) -> None:
    line = complaint(servers, "\n[servers.s]\npath = 'srv'\n", *files)
    assert "greenroom.toml:2 [servers.s]: " in line
    assert words in line


def test_extras_of_plain_requirements_are_an_error(servers: Callable[..., dict[str, Component]]) -> None:
    line = complaint(servers, "[servers.s]\npath = 'srv'\nextras = ['a']\n", "srv/requirements.txt")
    assert "greenroom.toml:3 [servers.s] extras: " in line


def test_a_table_may_say_another_source_and_keep_the_directory(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    text = """
    [environments]
    shared = ["fast"]
    [servers.a]
    path = "srv"
    dependencies = ["x"]
    [servers.b]
    path = "srv"
    environment = false
    [servers.c]
    path = "srv"
    environment = "shared"
    [servers.d]
    script = "d.py"
    [servers.e]
    path = "srv"
    requirements = "srv/requirements.txt"
    """
    files = ("srv/requirements.txt", "srv/pyproject.toml", "srv/.python-version")
    found = servers(text, *files)
    assert source(found["a"]) == InlineSource(requirements=("x",), base=str(tmp_path))
    assert found["b"].spec is None
    assert source(found["c"]) == ProjectSource(directory=str(tmp_path), extras=("fast",))
    assert found["d"].launch.directory == str(tmp_path)
    assert source(found["e"]) == RequirementsSource(requirements=(str(tmp_path / "srv/requirements.txt"),))
    assert {one.launch.directory for name, one in found.items() if name != "d"} == {str(tmp_path / "srv")}


@pytest.mark.parametrize(
    ("content", "request_", "line"),
    [
        ("3.12\n", "3.12", 1),
        ("# why\n\n >=3.13,<3.14 # really\n3.11\n", ">=3.13,<3.14", 3),
        ("\n#\n", None, 0),
    ],
)
def test_the_directorys_own_request_counts_and_never_a_parents(
    content: str,
    request_: str | None,
    line: int,
    servers: Callable[..., dict[str, Component]],
    tmp_path: Path,
) -> None:
    text = "[servers.s]\npath = 'a/srv'\n[servers.t]\npath = 'a/other'\n"
    write_files(
        tmp_path, {"a/.python-version": "3.9", ".python-version": "3.8", "a/srv/.python-version": content}
    )
    found = servers(text, "a/srv/requirements.txt", "a/other/requirements.txt")
    options = [found[name].spec.options for name in "st"]  # type: ignore[union-attr]
    assert [one.python for one in options] == [request_, None]
    if request_:
        assert str(options[0].python_origin) == f"{tmp_path}/a/srv/.python-version:{line}"


def test_a_declared_request_wins_over_the_directorys_and_that_over_the_default(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    text = "[defaults]\npython = '3.11'\n[servers.s]\npath = 'a'\npython = '3.13'\n[servers.t]\npath = 'b'\n"
    write_files(tmp_path, {"a/.python-version": "3.9", "b/.python-version": "3.12"})
    found = servers(text, "a/requirements.txt", "b/requirements.txt")
    assert [found[name].spec.options.python for name in "st"] == ["3.13", "3.12"]  # type: ignore[union-attr]


def test_an_unreadable_request_is_said(servers: Callable[..., dict[str, Component]], tmp_path: Path) -> None:
    write_files(tmp_path, {"srv/.python-version": b"\xff"})
    line = complaint(servers, "[servers.s]\npath = 'srv'\n", "srv/requirements.txt")
    assert "srv/.python-version: is not UTF-8" in line


# --- how servers are found ---


def test_directories_with_a_manifest_are_servers(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    found = servers(
        "[discover]\nservers = ['servers/*', 'deep/**/srv?']\n",
        "servers/a/requirements.txt",
        "servers/b/pyproject.toml",
        "servers/c/app.py",
        "servers/.d/requirements.txt",
        "servers/file",
        "deep/x/y/srv1/requirements.txt",
        "deep/srv2/requirements.txt",
        "deep/x/other/requirements.txt",
    )
    assert list(found) == ["srv2", "srv1", "a", "b"]
    assert str(found["srv1"].origin) == f"{tmp_path}/greenroom.toml:2 [discover] servers[1]"


def test_a_pattern_without_match_is_no_error(servers: Callable[..., dict[str, Component]]) -> None:
    assert servers("[discover]\nservers = ['nothing/*', 'none']\n") == {}


def test_equal_last_parts_never_share_a_name(servers: Callable[..., dict[str, Component]]) -> None:
    paths = ("a/servers/math", "b/servers/math", "agents/math", "agents/code")
    found = servers(
        "[discover]\nservers = ['*/servers/*', 'agents/*']\n", *(f"{path}/requirements.txt" for path in paths)
    )
    assert list(found) == ["a/servers/math", "code", "agents/math", "b/servers/math"]
    assert len({one.spec.lock_name for one in found.values() if one.spec}) == 4


def test_a_table_takes_a_found_directory_by_path_or_by_name(
    servers: Callable[..., dict[str, Component]],
) -> None:
    text = """
    [discover]
    servers = ["servers/*"]
    [servers.calc]
    path = "servers/math/"
    command = ["calc"]
    [servers.code]
    command = ["code"]
    """
    found = servers(text, *(f"servers/{name}/requirements.txt" for name in ("math", "code", "other")))
    assert {name: one.launch.command for name, one in found.items()} == {
        "calc": ("calc",),
        "code": ("code",),
        "other": (),
    }


def test_a_declared_name_is_not_given_to_a_found_directory(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    text = "[servers.math]\nscript = 'x.py'\n[discover]\nservers = ['servers/*']\n"
    found = servers(text, "servers/math/requirements.txt")
    assert list(found) == ["math", "servers/math"]
    assert found["servers/math"].launch.directory == str(tmp_path / "servers/math")


def test_a_misspelt_table_names_the_found_one(servers: Callable[..., dict[str, Component]]) -> None:
    text = "[discover]\nservers = ['servers/*']\n[servers.mathh]\ncommand = ['x']\n"
    assert "did you mean 'math'?" in complaint(servers, text, "servers/math/requirements.txt")


def test_a_link_to_a_server_is_a_server_of_its_own(
    servers: Callable[..., dict[str, Component]], tmp_path: Path
) -> None:
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers/b").symlink_to("a")
    found = servers("[discover]\nservers = ['servers/*']\n", "servers/a/requirements.txt")
    assert list(found) == ["a", "b"]


def test_odd_directory_names_work_or_are_said(servers: Callable[..., dict[str, Component]]) -> None:
    text = "[discover]\nservers = ['s/*']\n"
    names = ["my $(server) 'x'", "Math", "math", "é;&"]
    found = servers(text, *(f"s/{name}/requirements.txt" for name in names))
    assert sorted(found) == sorted(names)
    locks = {one.spec.lock_name.lower() for one in found.values() if one.spec}
    assert len(locks) == 4
    assert "cannot be a server's name" in complaint(servers, text, "s/new\nline/requirements.txt")


def test_two_hundred_directories_are_found_with_what_decides(tmp_path: Path) -> None:
    files = {f"kind{number % 3}/server{number}/requirements.txt": "x" for number in range(223)}
    write_files(tmp_path, {**files, "greenroom.toml": "[discover]\nservers = ['kind*/*']\n"})
    found = read(str(tmp_path / "greenroom.toml"), {})
    assert len(found.components) == 223
    assert {str(tmp_path), str(tmp_path / "kind0")} <= set(found.files)


def test_what_is_watched_tells_of_every_change(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/x/f": "", "b/f": ""})
    found, watched = matching(str(tmp_path), "*/x")
    assert found == (str(tmp_path / "a/x"),)
    assert watched == (str(tmp_path), str(tmp_path / "b/x"))
    assert matching(str(tmp_path), "c/x") == ((), (str(tmp_path / "c/x"),))
    assert matching(str(tmp_path / "a"), "../b")[0] == (str(tmp_path / "b"),)
    assert matching("/", f"{tmp_path}/[ab]")[0] == (str(tmp_path / "a"), str(tmp_path / "b"))


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b/requirements.txt": ""})
    (tmp_path / "a/b/up").symlink_to("..")
    assert matching(str(tmp_path), "**/b")[0] == (str(tmp_path / "a/b"),)


# --- names ---

PARTS = st.lists(st.sampled_from(["a", "b", "math"]), min_size=1, max_size=4)


@given(
    st.lists(PARTS, min_size=1, max_size=8, unique_by=tuple), st.sets(st.sampled_from(["a", "math", "b/a"]))
)
def test_names_are_different_and_ends_of_their_paths(paths: list[list[str]], taken: set[str]) -> None:
    absolute = ["/base/" + "/".join(path) for path in paths]
    names = suffixes(absolute, "/base", taken)
    assert len(set(names.values())) == len(absolute)
    for path, name in names.items():
        assert path.endswith(f"/{name}")
        ends = [other for other in absolute if other.endswith(f"/{name}")]
        assert ends == [path] or name == os.path.relpath(path, "/base")


def test_a_directory_outside_the_root_has_a_name() -> None:
    assert suffixes(["/other/srv", "/base/in/srv"], "/base") == {
        "/other/srv": "other/srv",
        "/base/in/srv": "in/srv",
    }


@given(st.lists(st.tuples(st.sampled_from(["actor", "server"]), st.text(max_size=150)), unique=True))
def test_lock_names_are_files_of_their_own(names: list[tuple[str, str]]) -> None:
    found = lock_names(names)
    assert len({name.lower() for name in found.values()}) == len(names)
    assert all(len(name) <= 110 and "." not in name and "/" not in name for name in found.values())


def test_lock_names_stay_readable() -> None:
    assert lock_names([("actor", "app.tools.Search"), ("server", "servers/math")]) == {
        ("actor", "app.tools.Search"): "app-tools-Search",
        ("server", "servers/math"): "servers-math",
    }
