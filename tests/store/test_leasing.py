"""A lease: shared, inherited, and refused on what is gone."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from greenroom.cli import launch
from greenroom.errors import EnvironmentGone
from greenroom.store import leasing
from greenroom.store.model import RECORD

if TYPE_CHECKING:
    from pathlib import Path


def test_launching_and_the_store_name_the_record_alike() -> None:
    assert launch.RECORD == RECORD


def test_a_lease_is_shared_and_keeps_a_collection_out(tmp_path: Path) -> None:
    record = tmp_path / "greenroom.json"
    record.write_text("{}")
    held = [leasing.lease(f"{tmp_path}/greenroom.json"), leasing.lease(f"{tmp_path}/greenroom.json")]
    with record.open() as stream, pytest.raises(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for descriptor in held:
        os.close(descriptor)
    with record.open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lease_is_inherited_by_what_is_started(tmp_path: Path) -> None:
    record = tmp_path / "greenroom.json"
    record.write_text("{}")
    descriptor = leasing.lease(f"{tmp_path}/greenroom.json")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
    os.close(descriptor)
    with record.open() as stream, pytest.raises(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    child.communicate(b"\n")
    with record.open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_no_lease_is_given_on_an_environment_that_is_gone_or_going(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentGone):
        leasing.lease(f"{tmp_path}/greenroom.json")
    record = tmp_path / "greenroom.json"
    record.write_text("{}")
    with record.open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(EnvironmentGone):
            leasing.lease(f"{tmp_path}/greenroom.json")
