"""A stale uv.lock is found without uv, and agrees with uv where uv can tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from greenroom.errors import LockMissing, LockUnreadable
from greenroom.locks import staleness

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command, Outcome

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "nemo-rl"
FILES = {
    "pyproject.toml": """
[project]
name = "app"
version = "0"
requires-python = ">=3.11,<3.14"
dependencies = [
    "iniconfig>=1", "pygments; python_version >= '3.12' and sys_platform == 'linux'", "one", "lib",
]
[project.optional-dependencies]
a = ["iniconfig==2.0.0"]
b = ["iniconfig==1.1.1", "app[c]"]
c = ["typed>=1,<3"]
[dependency-groups]
dev = ["typed"]
test = ["pygments", {include-group = "dev"}]
[tool.uv]
conflicts = [[{extra = "a"}, {extra = "b"}], [{extra = "a"}, {group = "dev"}]]
constraint-dependencies = ["typed<9"]
override-dependencies = ["pygments>=2"]
exclude-dependencies = ["never"]
build-constraint-dependencies = ["setuptools<99"]
environments = ["sys_platform == 'linux'", "sys_platform == 'darwin'"]
[tool.uv.workspace]
members = ["members/*"]
exclude = ["members/old"]
[tool.uv.sources]
one = {workspace = true}
lib = {path = "lib"}
typed = [{index = "second", marker = "sys_platform == 'darwin'"}]
[[tool.uv.index]]
name = "second"
url = "INDEX"
explicit = true
[[tool.uv.dependency-metadata]]
name = "typed"
version = "1.0"
requires-dist = ["pygments"]
""",
    "members/one/pyproject.toml": '[project]\nname = "one"\nversion = "1"\nrequires-python = ">=3.11"\n'
    'dependencies = ["typed"]\n',
    "members/old/pyproject.toml": '[project]\nname = "old"\nversion = "1"\n',
    "lib/pyproject.toml": '[project]\nname = "lib"\nversion = "1"\ndependencies = ["pygments"]\n',
}

EDITS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    # what is edited: file, old text, new text, words of the answer (none: not stale)
    "nothing": ("pyproject.toml", "[project]", "[project]", ()),
    "a comment": ("pyproject.toml", "[project]", "# a comment\n[project]  # another", ()),
    "the order of dependencies": (
        "pyproject.toml",
        '"iniconfig>=1", "pygments;',
        '"pygments;',
        ("iniconfig >=1 is gone",),
    ),
    "spelling of names": ("pyproject.toml", '"iniconfig>=1"', '"IniConfig >= 1"', ()),
    "spelling of a marker": (
        "pyproject.toml",
        "python_version >= '3.12' and sys_platform == 'linux'",
        "sys_platform == 'linux' and not_there",
        (),
    ),
    "an equivalent marker": (
        "pyproject.toml",
        "python_version >= '3.12' and sys_platform == 'linux'",
        "'linux' == sys_platform and python_full_version >= '3.12' and python_version >= '3.11'",
        (),
    ),
    "another marker": (
        "pyproject.toml",
        "python_version >= '3.12'",
        "python_version >= '3.13'",
        ("pygments any version applies elsewhere",),
    ),
    "a specifier": ("pyproject.toml", '"iniconfig>=1"', '"iniconfig>=1.1"', ("iniconfig >=1 → >=1.1",)),
    "a new dependency": ("pyproject.toml", '"iniconfig>=1"', '"iniconfig>=1", "typed"', ("typed",)),
    "an extra's pin": (
        "pyproject.toml",
        '"iniconfig==2.0.0"',
        '"iniconfig==1.1.1"',
        ("iniconfig ==2.0.0", "==1.1.1"),
    ),
    "a requirement moved to another extra": (
        "pyproject.toml",
        'a = ["iniconfig==2.0.0"]\nb = ["iniconfig==1.1.1", "app[c]"]',
        'b = ["iniconfig==2.0.0"]\na = ["iniconfig==1.1.1", "app[c]"]',
        ("iniconfig ==2.0.0 applies elsewhere",),
    ),
    "a new empty extra": (
        "pyproject.toml",
        "[dependency-groups]",
        "z = []\n[dependency-groups]",
        ("extra z is new",),
    ),
    "an extra gone": ("pyproject.toml", ', "app[c]"]\nc = ["typed>=1,<3"]', "]", ("extra c is gone",)),
    "a group": ("pyproject.toml", 'dev = ["typed"]', 'dev = ["typed>=1"]', ("group dev: typed",)),
    "an included group": ("pyproject.toml", ', {include-group = "dev"}]', "]", ("group test: typed",)),
    "a new group": ("pyproject.toml", "[tool.uv]\n", 'more = ["typed"]\n[tool.uv]\n', ("group more is new",)),
    "a constraint": (
        "pyproject.toml",
        '"typed<9"',
        '"typed<8"',
        ("constraint-dependencies: typed <9", "→ <8"),
    ),
    "an override": ("pyproject.toml", '"pygments>=2"', '"pygments>=1"', ("override-dependencies: pygments",)),
    "an excluded package": ("pyproject.toml", '["never"]', "[]", ("excluded package never is gone",)),
    "a build constraint": (
        "pyproject.toml",
        '"setuptools<99"',
        '"setuptools<98"',
        ("build-constraint-dependencies",),
    ),
    "environments": ("pyproject.toml", """, "sys_platform == 'darwin'"]""", "]", ("environments changed",)),
    "a conflict gone": (
        "pyproject.toml",
        ', [{extra = "a"}, {group = "dev"}]]',
        "]",
        ("conflict of app[a] and app group dev is gone",),
    ),
    "a conflict more": (
        "pyproject.toml",
        '{group = "dev"}]]',
        '{group = "dev"}], [{extra = "b"}, {group = "test"}]]',
        ("conflict of app[b] and app group test is new",),
    ),
    "a member excluded": (
        "pyproject.toml",
        '["members/old"]',
        '["members/none"]',
        ("member members/old is new",),
    ),
    "members gone": (
        "pyproject.toml",
        'members = ["members/*"]',
        'members = ["others/*"]',
        ("member one is gone",),
    ),
    "requires-python": ("pyproject.toml", ">=3.11,<3.14", ">=3.11,<3.13", ("requires-python",)),
    "requires-python spelt otherwise": ("pyproject.toml", ">=3.11,<3.14", "<3.14, >=3.11.0", ()),
    "a source gone": (
        "pyproject.toml",
        'typed = [{index = "second", marker = "sys_platform == ' + "'darwin'" + '"}]',
        "",
        ("typed",),
    ),
    "a source's marker": ("pyproject.toml", "== 'darwin'\"}]", "== 'win32'\"}]", ("typed",)),
    "a path made editable": ("pyproject.toml", '{path = "lib"}', '{path = "lib", editable = true}', ("lib",)),
    "static metadata": (
        "pyproject.toml",
        'requires-dist = ["pygments"]',
        "requires-dist = []",
        ("dependency-metadata of typed",),
    ),
    "resolution": (
        "pyproject.toml",
        "[tool.uv]\n",
        '[tool.uv]\nresolution = "lowest-direct"\n',
        ("resolution highest",),
    ),
    "prerelease": ("pyproject.toml", "[tool.uv]\n", '[tool.uv]\nprerelease = "allow"\n', ("prerelease",)),
    "exclude-newer": (
        "pyproject.toml",
        "[tool.uv]\n",
        '[tool.uv]\nexclude-newer = "2031-01-01T00:00:00Z"\n',
        ("exclude-newer",),
    ),
    "the project's name": ("pyproject.toml", 'name = "app"', 'name = "other"', ("app is now named other",)),
    "a member's dependency": (
        "members/one/pyproject.toml",
        '["typed"]',
        '["typed", "pygments"]',
        ("pygments",),
    ),
    "a path source's dependency": (
        "lib/pyproject.toml",
        '["pygments"]',
        "[]",
        ("pygments any version is gone",),
    ),
}
BROKEN = {"spelling of a marker"}
"""Edits after which the file itself is wrong."""


@pytest.fixture
def locked(index: Index, project: Callable[..., Path], uv_lock: Callable[..., Outcome]) -> Path:
    """Write the project and lock it."""
    for name, versions in {
        "iniconfig": ("1.1.1", "2.0.0"),
        "pygments": ("2.18.0",),
        "typed": ("1.0",),
    }.items():
        for version in versions:
            index.add_wheel(name, version)
    directory = project({name: text.replace("INDEX", index.url) for name, text in FILES.items()})
    uv_lock(directory)
    return directory


def edit(directory: Path, file: str, old: str, new: str) -> None:
    text = (directory / file).read_text()
    assert old in text
    (directory / file).write_text(text.replace(old, new))


def test_every_edit_is_judged_as_uv_judges_it(locked: Path, uv: Command) -> None:
    assert staleness.of(str(locked)) == staleness.Found()
    wrong = []
    for name, (file, old, new, words) in EDITS.items():
        before = (locked / file).read_text()
        edit(locked, file, old, new)
        outcome = uv("lock", "--check", cwd=locked, status=None)
        if name in BROKEN:
            assert outcome.status != 0
            with pytest.raises(LockUnreadable):
                staleness.of(str(locked))
        else:
            found = staleness.of(str(locked)).differences
            said = "; ".join(found)
            if bool(found) != (outcome.status != 0) or not all(word in said for word in words):
                wrong.append((name, found, outcome.status))
        (locked / file).write_text(before)
    assert wrong == []


def test_the_projects_own_version_may_change(locked: Path) -> None:
    edit(locked, "pyproject.toml", 'version = "0"', 'version = "1"')
    assert staleness.of(str(locked)).differences == ()


def test_absent_members_are_a_note_and_the_root_is_compared_all_the_same(locked: Path) -> None:
    (locked / "members/one/pyproject.toml").unlink()
    (locked / "members/one").rmdir()
    found = staleness.of(str(locked))
    assert found.differences == ()
    assert found.notes == ("absent, so the lock is taken as it is for one",)
    edit(locked, "pyproject.toml", '"iniconfig>=1"', '"iniconfig>=1.1"')
    assert staleness.of(str(locked)).differences == ("iniconfig >=1 → >=1.1",)


def test_watched_files_are_those_whose_change_is_seen(locked: Path) -> None:
    watched = staleness.watched(str(locked))
    for name in ("pyproject.toml", "members/one/pyproject.toml", "lib/pyproject.toml", "members"):
        assert str(locked / name) in watched


def test_a_new_member_directory_is_seen_through_a_watched_folder(locked: Path) -> None:
    folder = str(locked / "members")
    assert folder in staleness.watched(str(locked))
    before = Path(folder).stat().st_mtime_ns
    (locked / "members/new").mkdir()
    (locked / "members/new/pyproject.toml").write_text('[project]\nname = "new"\nversion = "1"\n')
    assert Path(folder).stat().st_mtime_ns != before
    assert "the workspace member members/new is new" in staleness.of(str(locked)).differences


def test_a_lock_that_is_not_there_is_said_with_what_to_type(project: Callable[..., Path]) -> None:
    directory = project({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n'})
    with pytest.raises(LockMissing, match="uv lock --project"):
        staleness.of(str(directory))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the real lock is not beside this checkout")
def test_the_real_lock_is_not_stale() -> None:
    found = staleness.of(str(CORPUS))
    assert found.differences == ()
    assert found.notes == ("absent, so the lock is taken as it is for nemo-gym, template-project",)
