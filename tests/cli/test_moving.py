"""``pack``, ``unpack``, ``push`` and ``sync --from`` through the installed command."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.shelf import Shelf
from tests.support.workspace import script

if TYPE_CHECKING:
    from tests.support.index import Index
    from tests.support.workspace import Command

VERSION = "import tinylib; print(tinylib.__version__)"


def test_what_one_packs_another_unpacks_and_runs(
    greenroom: Command, built: Path, tmp_path: Path, index: Index
) -> None:
    packed = greenroom("pack", "app.A", "-o", str(tmp_path / "a.tar.zst"), "--json").json()["data"]
    assert packed["file"] == str(tmp_path / "a.tar.zst")
    assert packed["packed"] == (tmp_path / "a.tar.zst").stat().st_size
    store = str(tmp_path / "elsewhere")
    before = len(index.requests)
    done = greenroom("unpack", packed["file"], "--store", store)
    assert "ready, unpacked in" in done.stdout
    assert greenroom("run", "--store", store, "app.A", "--", "python", "-c", VERSION).stdout == "2.0.0\n"
    assert len(index.requests) == before
    assert "there already" in greenroom("unpack", packed["file"], "--store", store).stdout
    assert greenroom("unpack", packed["file"], "--store", store, cwd=tmp_path).status == 0  # no declaration
    del built


def test_an_archive_goes_through_a_pipe(
    greenroom: Command, built: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    command = script("greenroom")
    store = str(tmp_path / "elsewhere")
    with subprocess.Popen(
        [command, "pack", "app.A", "-o", "-"], cwd=built, env=environ, stdout=subprocess.PIPE
    ) as one:
        other = subprocess.run(
            [command, "unpack", "-", "--store", store, "-q"],
            env=environ,
            stdin=one.stdout,
            capture_output=True,
            text=True,
            check=True,
        )
    assert one.returncode == 0
    assert Path(other.stdout.strip(), "bin/python").exists()
    del greenroom


def test_the_default_file_is_named_by_the_key(greenroom: Command, built: Path) -> None:
    key = greenroom("status", "--json").json()["data"]["components"][0]["key"]
    greenroom("pack", "app.A")
    assert (built / f"{key}.tar.zst").is_file()


def test_what_is_missing_or_on_the_driver_is_not_packed(greenroom: Command, app: Path) -> None:
    done = greenroom("pack", "app.A", status=3)
    assert "greenroom sync" in done.stderr
    assert not list(app.glob("*.zst"))


def test_a_file_that_is_no_archive_is_refused(greenroom: Command, built: Path, tmp_path: Path) -> None:
    store = tmp_path / "elsewhere"
    done = greenroom("unpack", "pyproject.toml", "--store", str(store), status=1)
    assert "the archive is refused: it is damaged" in done.stderr
    assert not store.exists()
    assert greenroom("unpack", "nothing", status=1).stderr.count("\n") == 1
    del built


@pytest.mark.parametrize("kind", ["directory", "web"])
def test_a_sync_fetches_what_was_pushed_and_builds_the_rest(
    greenroom: Command, built: Path, tmp_path: Path, kind: str
) -> None:
    with Shelf() as shelf:
        url = str(tmp_path / "archives") if kind == "directory" else f"{shelf.url}/envs"
        pushed = greenroom("push", url, "app.A")
        assert pushed.lines[-1] == "1 environment pushed"
        store = str(tmp_path / "elsewhere")
        done = greenroom("sync", "--from", url, "--store", store, "--json")
    data = json.loads(done.lines[-1])["data"]
    assert len(data["fetched"]) == 1
    assert len(data["built"]) == 1
    notes = [json.loads(line) for line in done.lines if '"note"' in line]
    assert {"fetched", "is not at"} == {
        word for word in ("fetched", "is not at") for note in notes if word in note["text"]
    }
    assert greenroom("run", "--store", store, "app.A", "--", "python", "-c", VERSION).stdout == "2.0.0\n"
    assert greenroom("sync", "--store", store).stdout == "2 environments ready\n"
    del built


def test_a_variable_names_the_place_too(greenroom: Command, built: Path, tmp_path: Path) -> None:
    greenroom("push", str(tmp_path / "archives"))
    more = {"GREENROOM_FROM": str(tmp_path / "archives")}
    done = greenroom("sync", "--store", str(tmp_path / "elsewhere"), env=more)
    assert done.stdout == "2 environments ready: 2 fetched\n"
    del built


def test_a_damaged_archive_is_told_and_built_instead(greenroom: Command, built: Path, tmp_path: Path) -> None:
    greenroom("push", str(tmp_path / "archives"))
    for archive in (tmp_path / "archives").iterdir():
        content = bytearray(archive.read_bytes())
        content[len(content) // 2] ^= 1
        archive.write_bytes(content)
    store = str(tmp_path / "elsewhere")
    done = greenroom("sync", "--from", str(tmp_path / "archives"), "--store", store)
    assert "2 built" in done.stdout
    assert done.stderr.count("not taken from an archive") == 2
    del built


def test_a_push_that_is_refused_fails_and_says_for_which(greenroom: Command, built: Path) -> None:
    with Shelf() as shelf:
        shelf.status = 403
        done = greenroom("push", shelf.url, status=1)
    assert done.stdout.count("answers 403") == 2
    assert done.lines[-1] == "0 environments pushed"
    del built


def test_nothing_is_left_where_temporary_files_go(
    greenroom: Command, built: Path, tmp_path: Path, store_path: Path
) -> None:
    greenroom("push", str(tmp_path / "archives"))
    assert list((store_path / ".greenroom/building").iterdir()) == []
    del built
