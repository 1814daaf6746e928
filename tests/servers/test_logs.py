"""Logs on the disk: nothing lost, rotated, with times; read back interleaved, since, and as they come."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from greenroom.servers.logfiles import LogFile, file_name, generations, times
from greenroom.servers.logreading import Follower, interleaved, shown

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _lines(path: Path, since: int = 0) -> list[bytes]:
    return [line.data for line in interleaved([("a", str(path))], since)]


def test_rotation_keeps_lines_whole_and_the_last_files(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    log = LogFile(str(path), rotate=1000, keep=2)
    for number in range(100):
        log.write(b"%099d\n" % number)
    log.close()
    files = generations(str(path))
    assert [file.rpartition("/")[2] for file in files] == ["a.log.2", "a.log.1", "a.log"]
    assert {file.name for file in tmp_path.iterdir()} >= {times(file).rpartition("/")[2] for file in files}
    found = [int(line) for line in _lines(path)]
    assert found == list(range(found[0], 100))
    assert len(found) >= 20


def test_since_leaves_out_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    log = LogFile(str(path), rotate=10_000, keep=1)
    log.write(b"before\n")
    time.sleep(0.01)
    middle = time.time_ns()
    log.write(b"after\n")
    log.close()
    assert _lines(path, middle) == [b"after"]
    assert _lines(path, time.time_ns()) == []


def test_several_logs_are_interleaved_by_time(tmp_path: Path) -> None:
    logs = {name: LogFile(str(tmp_path / name), rotate=10_000, keep=1) for name in "ab"}
    for name in "abba":
        logs[name].write(name.encode() + b"\n")
        time.sleep(0.005)
    for log in logs.values():
        log.close()
    found = [line.unit for line in interleaved([(name, str(tmp_path / name)) for name in "ab"])]
    assert found == list("abba")


def test_following_goes_on_over_a_rotation(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    follower = Follower("a", str(path))
    assert list(follower.read()) == []
    log = LogFile(str(path), rotate=10, keep=1)
    found = []
    for number in range(5):
        log.write(b"line %d\n" % number)
        found += [line.data for line in follower.read()]
    log.close()
    follower.close()
    assert found == [b"line %d" % number for number in range(5)]


def test_a_full_disk_loses_what_it_cannot_take_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogFile(str(tmp_path / "a.log"), rotate=10_000, keep=1)
    log.write(b"before\n")
    real = os.write

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    log.write(b"lost\n")
    monkeypatch.setattr(os, "write", real)
    log.write(b"after\n")
    log.close()
    assert _lines(tmp_path / "a.log") == [b"before", b"[greenroom: 5 bytes could not be written]", b"after"]


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_what_is_written_is_read_whatever_the_blocks(blocks: list[bytes]) -> None:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.log"
        log = LogFile(str(path), rotate=1 << 30, keep=1)
        for block in blocks:
            log.write(block)
        log.close()
        whole = b"".join(blocks)
        expected = whole.split(b"\n")
        assert _lines(path) == (expected[:-1] if expected[-1] == b"" else expected)


def test_a_line_without_end_is_told_in_pieces(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "a.log"), rotate=1 << 30, keep=1)
    log.write(b"x" * 300_000)
    log.close()
    found = _lines(tmp_path / "a.log")
    assert b"".join(found) == b"x" * 300_000
    assert max(map(len, found)) == 65_536


def test_colours_are_let_through_only_where_wanted() -> None:
    assert shown(b"\x1b[31mred\x1b[0m") == "red"
    assert shown(b"\x1b[31mred", colours=True) == "\x1b[31mred\x1b[0m"
    assert shown(b"a\x1b[2Jb\xff\r") == "a\\x1b[2Jb\\xff"


@given(st.text(min_size=1, max_size=300))
def test_every_name_has_a_file_of_its_own(name: str) -> None:
    found = file_name(name.encode("utf-8", "replace").decode())
    assert "/" not in found
    assert len(os.fsencode(found)) < 230
    assert found not in {".log", "..log"}
