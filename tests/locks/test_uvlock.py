"""Whatever is wrong with a uv.lock is one clear error."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.support import targets

from greenroom.components import ProjectSource
from greenroom.errors import (
    AmbiguousLock,
    GreenroomError,
    LockMissing,
    LockNeedsPython,
    LockTooNew,
    LockUnreadable,
    PlatformNotLocked,
    SecretInSource,
    UnknownExtra,
    UnknownGroup,
    UnknownMember,
)
from greenroom.locks import projects, uvlock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from greenroom.locks.model import Selection

LOCK = """version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "app"
version = "0"
source = { virtual = "." }
dependencies = [{ name = "one" }]

[package.optional-dependencies]
vllm = [{ name = "one" }]

[package.metadata]
provides-extras = ["vllm", "empty"]

[package.metadata.requires-dev]
lint = []

[[package]]
name = "one"
version = "1.0"
source = { registry = "https://index.example/simple" }
wheels = [{ url = "https://files.example/one-1.0-py3-none-any.whl", hash = "sha256:00", size = 7 }]
"""


def select(
    directory: Path, *extras: str, groups: tuple[str, ...] = (), package: str | None = None
) -> Selection:
    source = ProjectSource(directory=str(directory), extras=extras, groups=groups, package=package)
    return projects.select(source, targets.linux("3.12.1"), where='greenroom.toml:3 [actors] "app.A"')


@pytest.fixture
def lock(project: Callable[..., Path]) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        return project({"uv.lock": text, "pyproject.toml": '[project]\nname = "app"\nversion = "0"\n'})

    return write


def test_a_missing_lock_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(LockMissing, match=f"uv lock --project {tmp_path}"):
        select(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LOCK[: len(LOCK) // 2], "uv.lock:"),
        ("\x00\x01", "uv.lock:1"),
        ("", "not a lock of uv's"),
        ("version = 1\npackage = 3\n", "not a lock of uv's"),
        ('version = 1\n[[package]]\nname = "x"\n', "not a lock of uv's"),
        ('version = 1\n[[package]]\nname = "x"\nsource = 3\n', "has no source"),
        (LOCK.replace('{ name = "one" }]\n\n[package.opt', '{ nam = "one" }]\n\n[package.opt'), "not a lock"),
        (LOCK.replace("{ registry", "{ wormhole"), "a source of an unknown kind"),
        (
            LOCK.replace(
                '{ name = "one" }]\n\n[package.opt', '{ name = "one", marker = "??" }]\n\n[package.opt'
            ),
            "not a marker",
        ),
        ("a = " + "[" * 5000, "uv.lock"),
    ],
)
def test_a_damaged_lock_is_one_line(text: str, reason: str, lock: Callable[[str], Path]) -> None:
    with pytest.raises(LockUnreadable) as caught:
        select(lock(text))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_lock_that_is_not_utf8_is_refused(lock: Callable[[str], Path]) -> None:
    directory = lock(LOCK)
    (directory / "uv.lock").write_bytes(b"\xff\xfe")
    with pytest.raises(LockUnreadable, match="not UTF-8"):
        select(directory)


def test_a_folder_in_the_locks_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").mkdir()
    with pytest.raises(LockUnreadable):
        select(tmp_path)


def test_a_format_of_later_is_said(lock: Callable[[str], Path]) -> None:
    with pytest.raises(LockTooNew, match="format 2, this greenroom reads 1"):
        select(lock(LOCK.replace("version = 1", "version = 2", 1)))


def test_a_later_revision_is_read(lock: Callable[[str], Path]) -> None:
    assert len(select(lock(LOCK.replace("revision = 3", "revision = 99"))).distributions) == 2


def test_the_python_that_is_wanted_is_said(lock: Callable[[str], Path]) -> None:
    with pytest.raises(LockNeedsPython, match=r"for Python >=3\.13.* is 3\.12\.1"):
        select(lock(LOCK.replace(">=3.11", ">=3.13")))


def test_a_platform_outside_of_the_lock_is_said(lock: Callable[[str], Path]) -> None:
    with pytest.raises(PlatformNotLocked, match="does not cover linux-x86_64"):
        select(lock(LOCK.replace("revision = 3", "supported-markers = [\"sys_platform == 'win32'\"]")))


def test_unknown_names_are_told_with_the_nearest(lock: Callable[[str], Path]) -> None:
    directory = lock(LOCK)
    with pytest.raises(UnknownExtra, match=r"greenroom\.toml:3 .*'vlm'.*did you mean 'vllm'"):
        select(directory, "vlm")
    with pytest.raises(UnknownGroup, match="did you mean 'lint'"):
        select(directory, groups=("lnt",))
    with pytest.raises(UnknownMember, match="known: app"):
        select(directory, package="other")


def test_spelling_and_repetition_of_extras_do_not_count(lock: Callable[[str], Path]) -> None:
    directory = lock(LOCK)
    assert select(directory, "VLLM", "empty", "vllm") == select(directory, "vllm")


def test_a_lock_that_contradicts_itself_is_refused(lock: Callable[[str], Path]) -> None:
    other = LOCK[LOCK.rindex("[[package]]") :].replace('"1.0"', '"2.0"')
    with pytest.raises(AmbiguousLock, match=r"1\.0 and 2\.0 for one"):
        select(lock(f"{LOCK}\n{other}"))
    with pytest.raises(AmbiguousLock, match="no candidate for gone"):
        select(
            lock(LOCK.replace('dependencies = [{ name = "one" }]', 'dependencies = [{ name = "gone" }]', 1))
        )


@pytest.mark.parametrize("userinfo", ["bob:S3CRETPW", "TOK3NVALUE", "bob:per%40cent", "x:${not_a_variable}"])
def test_a_credential_is_refused_with_its_line_and_never_shown(
    userinfo: str, lock: Callable[[str], Path]
) -> None:
    directory = lock(LOCK.replace("https://files.example", f"https://{userinfo}@files.example"))
    with pytest.raises(SecretInSource, match=r"uv\.lock:24.*UV_INDEX_<NAME>_USERNAME") as caught:
        select(directory)
    assert userinfo.rsplit(":", maxsplit=1)[-1] not in str(caught.value)


@pytest.mark.parametrize(
    "place", ["ssh://git@host.example/a", "https://git@host.example/a", "git+ssh://me@host/a"]
)
def test_a_user_name_that_is_no_secret_is_none(place: str, lock: Callable[[str], Path]) -> None:
    select(lock(LOCK.replace("https://files.example", place)))


def test_a_lock_is_parsed_again_only_when_it_changed(lock: Callable[[str], Path]) -> None:
    path = lock(LOCK) / "uv.lock"
    first = uvlock.load(str(path))
    assert uvlock.load(str(path)) is first
    path.write_text(LOCK.replace('"1.0"', '"2.0"'))
    os.utime(path, ns=(1, 1))
    assert uvlock.load(str(path)) is not first


def test_every_error_is_the_users_and_has_status_2() -> None:
    for error in (LockMissing, LockUnreadable, LockTooNew, SecretInSource, AmbiguousLock):
        assert issubclass(error, GreenroomError)
        assert error.status == 2
