"""What a preflight remembers holds exactly as long as nothing that it looked at has changed."""

from __future__ import annotations

import json
import os
from time import time_ns
from typing import TYPE_CHECKING

import pytest

from greenroom.checks import memory
from greenroom.checks.model import Finding, Severity
from greenroom.checks.places import Needs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FINDING = Finding(check="extras", severity=Severity.ERROR, what="x", where="f:1", components=("A",))
OLD = 1_000_000_000


@pytest.fixture
def declaration(tmp_path: Path) -> Path:
    """Write a file that was written long ago."""
    path = tmp_path / "greenroom.toml"
    path.write_text("[actors]\n")
    os.utime(path, (OLD, OLD))
    return path


@pytest.fixture
def save(declaration: Path, environ: dict[str, str], tmp_path: Path) -> Callable[..., None]:
    """Remember one finding for the declaration."""

    def save(*, asked: int = 2 * OLD * 10**9, impatient: bool = False, **more: str) -> None:
        needs = Needs(
            stores=((str(tmp_path / "store"), True),),
            missing=("A",),
            least=0,
            likely=0,
            cache=str(tmp_path / "uv"),
            paths=(),
        )
        found = memory.Found(
            asked=asked,
            looked=(str(declaration), str(tmp_path / "absent")),
            variables=("CFLAGS",),
            impatient=impatient,
            environments=("A",),
            findings=(FINDING,),
            needs=needs,
        )
        memory.save(str(declaration), environ | more, found)

    return save


def test_it_says_the_same(declaration: Path, environ: dict[str, str], save: Callable[..., None]) -> None:
    assert memory.load(str(declaration), environ) is None
    save()
    found = memory.load(str(declaration), environ)
    assert found is not None
    assert found.environments == ("A",)
    assert list(found.findings()) == [FINDING]


@pytest.mark.parametrize(
    "variable", ["CFLAGS", "UV_INDEX_URL", "GREENROOM_DRIVER", "PATH", "HOME", "XDG_DATA_HOME"]
)
def test_a_deciding_variable_ends_it(
    declaration: Path, environ: dict[str, str], save: Callable[..., None], variable: str
) -> None:
    save()
    assert memory.load(str(declaration), environ | {variable: "/other"}) is None


def test_another_variable_does_not(
    declaration: Path, environ: dict[str, str], save: Callable[..., None]
) -> None:
    save()
    assert memory.load(str(declaration), environ | {"COLUMNS": "1", "PWD": "/"}) is not None


def test_an_edit_of_the_same_length_and_time_ends_it_when_it_is_recent(
    declaration: Path, environ: dict[str, str], save: Callable[..., None]
) -> None:
    save(asked=OLD * 10**9 + 1)
    assert memory.load(str(declaration), environ) is not None, "the content decides"
    declaration.write_text("[actor5]\n")
    os.utime(declaration, (OLD, OLD))
    assert memory.load(str(declaration), environ) is None


def test_what_changes_during_the_run_is_not_remembered(
    declaration: Path, environ: dict[str, str], save: Callable[..., None]
) -> None:
    save(asked=(OLD - 1) * 10**9)
    assert memory.load(str(declaration), environ) is None


def test_a_file_that_appears_ends_it(
    declaration: Path, environ: dict[str, str], save: Callable[..., None], tmp_path: Path
) -> None:
    save()
    (tmp_path / "absent").touch()
    assert memory.load(str(declaration), environ) is None


def test_a_store_that_can_no_longer_be_written_ends_it(
    declaration: Path, environ: dict[str, str], save: Callable[..., None], tmp_path: Path
) -> None:
    save()
    (tmp_path / "store").touch()
    assert memory.load(str(declaration), environ) is None


def test_patience_for_an_interpreter_ends(
    declaration: Path, environ: dict[str, str], save: Callable[..., None]
) -> None:
    save(impatient=True, asked=time_ns())
    assert memory.load(str(declaration), environ) is not None
    for long_ago_or_not_yet in (time_ns() - 3600 * 10**9, time_ns() + 3600 * 10**9):
        save(impatient=True, asked=long_ago_or_not_yet)
        assert memory.load(str(declaration), environ) is None


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"schema": 1}', b"[" * 100_000])
def test_a_damaged_memory_is_ignored(
    declaration: Path, environ: dict[str, str], save: Callable[..., None], content: bytes, tmp_path: Path
) -> None:
    save()
    (file,) = (tmp_path / "home/.cache/greenroom/projects").glob("*.check")
    file.write_bytes(content)
    assert memory.load(str(declaration), environ) is None


def test_no_secret_is_remembered(environ: dict[str, str], save: Callable[..., None], tmp_path: Path) -> None:
    assert environ
    save(UV_INDEX_PRIVATE_PASSWORD="S3CRETPW", CFLAGS="T0KEN")
    (file,) = (tmp_path / "home/.cache/greenroom/projects").glob("*.check")
    text = file.read_text()
    assert json.loads(text)["variables"] == ["CFLAGS"]
    assert "S3CRETPW" not in text
    assert "T0KEN" not in text
