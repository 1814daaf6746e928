"""Locks of PEP 751 are selected from as the standard says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import targets

from greenroom.components import EnvironmentSpec, Options, Origin, PylockSource
from greenroom.errors import (
    AmbiguousLock,
    LockMissing,
    LockNeedsPython,
    LockTooNew,
    LockUnreadable,
    NotALockName,
    PlatformNotLocked,
    SecretInSource,
    UnknownExtra,
    UnknownGroup,
)
from greenroom.locks import reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from greenroom.locks.model import Locked

HASH = "0" * 64
LOCK = f"""lock-version = "1.0"
created-by = "hand"
requires-python = ">=3.11"
environments = ["sys_platform == 'linux'"]
extras = ["fast"]
dependency-groups = ["dev", "docs"]
default-groups = ["dev"]

[[packages]]
name = "one"
version = "1.0"
index = "https://index.example/simple"
wheels = [
    {{name = "one-1.0-py3-none-any.whl", url = "https://files.example/x", hashes = {{sha256 = "{HASH}"}}}},
]
sdist = {{name = "one-1.0.tar.gz", path = "files/one-1.0.tar.gz", size = 5, hashes = {{sha256 = "{HASH}"}}}}

[[packages]]
name = "fast"
version = "1.0"
marker = "'fast' in extras"
archive = {{url = "https://files.example/fast-1.0.zip", subdirectory = "in", hashes = {{sha256 = "{HASH}"}}}}

[[packages]]
name = "dev"
marker = "'dev' in dependency_groups"
directory = {{path = "../dev", editable = true}}

[[packages]]
name = "docs"
version = "1.0"
marker = "'docs' in dependency_groups and sys_platform == 'linux'"
vcs = {{type = "git", url = "https://git.example/docs", commit-id = "abc", subdirectory = "d"}}
"""


def spec(path: Path, **asked: object) -> EnvironmentSpec:
    origin = Origin(file="greenroom.toml", line=4, key="[servers.x]")
    source = PylockSource(path=str(path), **asked)  # type: ignore[arg-type]
    return EnvironmentSpec(source=source, options=Options(), lock_name="x", origin=origin)


@pytest.fixture
def select(project: Callable[..., Path]) -> Callable[..., dict[str, Locked]]:
    def read(
        text: str = LOCK, *, name: str = "pylock.toml", version: str = "3.12.1", **asked: object
    ) -> dict[str, Locked]:
        directory = project({name: text})
        selection = reading.read(spec(directory / name, **asked), str(directory), targets.linux(version), {})
        return {one.name: one for one in selection.distributions}

    return read


def test_default_groups_count(select: Callable[..., dict[str, Locked]]) -> None:
    assert set(select()) == {"one", "dev"}
    assert set(select(default_groups=False)) == {"one"}


def test_extras_and_groups_are_asked_for(select: Callable[..., dict[str, Locked]]) -> None:
    assert set(select(extras=("Fast",), groups=("docs",))) == {"one", "dev", "fast", "docs"}


def test_every_kind_of_source_is_taken(select: Callable[..., dict[str, Locked]], tmp_path: Path) -> None:
    found = select(extras=("fast",), groups=("docs",))
    one, fast, dev, docs = (found[name] for name in ("one", "fast", "dev", "docs"))
    assert (one.wheels[0].name, one.wheels[0].location) == (
        "one-1.0-py3-none-any.whl",
        "https://files.example/x",
    )
    assert one.sdist is not None
    assert one.sdist.location == str(tmp_path / "app/files/one-1.0.tar.gz")
    assert fast.archive is not None
    assert (fast.archive.name, fast.archive_subdirectory) == ("fast-1.0.zip", "in")
    assert dev.directory is not None
    assert (dev.directory.path, dev.directory.editable, dev.version) == (str(tmp_path / "dev"), True, None)
    assert docs.commit is not None
    assert (docs.commit.url, docs.commit.commit) == ("https://git.example/docs", "abc")


def test_names_that_installers_refuse_are_refused(select: Callable[..., dict[str, Locked]]) -> None:
    assert select(name="pylock.my-name.toml")
    for name in ("lock.toml", "pylock.a.b.toml", "mypylock.toml"):
        with pytest.raises(NotALockName, match=r"greenroom\.toml:4 \[servers\.x\].*pylock\.<name>\.toml"):
            select(name=name)


def test_unknown_names_are_told_with_the_nearest(select: Callable[..., dict[str, Locked]]) -> None:
    with pytest.raises(UnknownExtra, match="did you mean 'fast'"):
        select(extras=("fst",))
    with pytest.raises(UnknownGroup, match="did you mean 'docs'"):
        select(groups=("doc",))


def test_a_lock_for_another_target_is_refused(
    select: Callable[..., dict[str, Locked]], tmp_path: Path
) -> None:
    with pytest.raises(LockNeedsPython, match=r">=3\.13"):
        select(LOCK.replace(">=3.11", ">=3.13"))
    with pytest.raises(LockNeedsPython, match=r"<3 \(one\)"):
        select(
            LOCK.replace(
                'name = "one"\nversion = "1.0"', 'name = "one"\nversion = "1.0"\nrequires-python = "<3"'
            )
        )
    select()
    with pytest.raises(PlatformNotLocked, match="darwin"):
        reading.read(spec(tmp_path / "app/pylock.toml"), str(tmp_path), targets.macos(), {})


def test_two_entries_that_both_apply_are_refused(select: Callable[..., dict[str, Locked]]) -> None:
    entry = LOCK[LOCK.index('[[packages]]\nname = "one"') : LOCK.index('[[packages]]\nname = "fast"')]
    with pytest.raises(AmbiguousLock, match=r"1\.0 and 2\.0 for one"):
        select(LOCK + "\n" + entry.replace("1.0", "2.0"))


@pytest.mark.parametrize(
    "text",
    ["", "lock-version = 1", LOCK[:300], LOCK.replace("wheels = [\n    {name", "wheels = [\n    {nome")],
)
def test_a_damaged_lock_is_one_line(text: str, select: Callable[..., dict[str, Locked]]) -> None:
    with pytest.raises(LockUnreadable) as caught:
        select(text)
    assert "\n" not in str(caught.value)


def test_a_missing_lock_names_who_wants_it(tmp_path: Path) -> None:
    with pytest.raises(LockMissing, match=r"greenroom\.toml:4 \[servers\.x\]: there is no"):
        reading.read(spec(tmp_path / "pylock.toml"), str(tmp_path), targets.linux(), {})


def test_a_format_of_later_is_said(select: Callable[..., dict[str, Locked]]) -> None:
    with pytest.raises(LockTooNew, match="2"):
        select(LOCK.replace('lock-version = "1.0"', 'lock-version = "2.0"'))


def test_a_credential_is_refused(select: Callable[..., dict[str, Locked]]) -> None:
    with pytest.raises(SecretInSource, match=r"pylock\.toml:12"):
        select(LOCK.replace("https://index.example", "https://bob:S3CRETPW@index.example"))
