"""The record: the whole truth in one file, written at once, never believed when it is torn."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.storing import KEY, OTHER, record_of

from greenroom.errors import RecordUnreadable, StoreFailed
from greenroom.recipes.model import Distribution, Recipe
from greenroom.store import layout, records
from greenroom.store.layout import Store
from greenroom.store.model import Record, State

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(store_path: Path) -> Store:
    found = Store(path=str(store_path), writable=True)
    os.makedirs(found.environment(KEY))
    return found


def put(store: Store, text: bytes) -> None:
    with open(store.record(KEY), "wb") as file:
        file.write(text)


def test_what_was_written_is_read_with_every_field(store: Store) -> None:
    assert records.read(store, KEY) is None
    records.write(store, record_of())
    assert records.read(store, KEY) == record_of()
    assert os.listdir(store.environment(KEY)) == ["greenroom.json"]


def test_no_field_of_a_record_or_recipe_is_forgotten() -> None:
    found = json.loads(records.encode(record_of()))
    assert found.keys() == {field.name for field in fields(Record)}
    assert found["recipe"].keys() == {field.name for field in fields(Recipe)}
    for entry in found["recipe"]["distributions"]:
        assert entry.keys() == {field.name for field in fields(Distribution)}
        assert len(entry["content"]) == 1


def test_a_field_that_is_not_known_yet_is_no_damage(store: Store) -> None:
    found = json.loads(records.encode(record_of()))
    put(store, json.dumps({**found, "later": 1}).encode())
    assert records.read(store, KEY) == record_of()


def test_a_record_without_a_field_that_has_a_default_is_read() -> None:
    found = json.loads(records.encode(record_of()))
    del found["machine"], found["faults"]
    read = records.decode(json.dumps(found).encode(), "x")
    assert read == replace(record_of(), machine="", faults=())


def test_everybody_can_read_it_whatever_the_umask(store: Store) -> None:
    for umask in (0o077, 0o000):
        before = os.umask(umask)
        try:
            records.write(store, record_of())
        finally:
            os.umask(before)
        assert stat.S_IMODE(os.stat(store.record(KEY)).st_mode) == 0o644


def test_a_newer_greenrooms_record_is_not_ready_and_not_damaged_by_us(store: Store) -> None:
    put(store, b'{"schema": 2, "anything": "else"}')
    with pytest.raises(RecordUnreadable, match="built by a newer greenroom") as caught:
        records.read(store, KEY)
    assert caught.value.newer
    assert layout.state(store, KEY) == (State.DAMAGED, "built by a newer greenroom (record schema 2)")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"{}",
        b'{"schema": "1"}',
        b'{"schema": 1}',
        b"[" * 100_000,
        b'{"schema": 1, "key": "' + b"x" * 1000,
    ],
)
def test_a_corrupt_record_is_damage_in_one_line(store: Store, text: bytes) -> None:
    put(store, text)
    with pytest.raises(RecordUnreadable) as caught:
        records.read(store, KEY)
    assert "\n" not in str(caught.value)
    assert caught.value.status == 3
    assert layout.state(store, KEY)[0] == State.DAMAGED
    assert layout.find([store], KEY) is None


@given(st.data())
def test_a_torn_or_flipped_record_is_the_record_or_damage_and_never_another_error(
    data: st.DataObject,
) -> None:
    whole = records.encode(record_of())
    cut = data.draw(st.integers(0, len(whole)))
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    for text in (whole[:cut], whole[:place] + bytes([byte]) + whole[place + 1 :]):
        with contextlib.suppress(RecordUnreadable):
            records.decode(text, "record")


def test_two_contents_in_one_distribution_are_damage() -> None:
    found = json.loads(records.encode(record_of()))
    found["recipe"]["distributions"][0]["content"]["late"] = {}
    with pytest.raises(RecordUnreadable, match="exactly one content"):
        records.decode(json.dumps(found).encode(), "record")


def test_the_record_of_another_key_does_not_count(store: Store) -> None:
    put(store, records.encode(record_of(OTHER)))
    with pytest.raises(RecordUnreadable, match=f"it is the record of {OTHER}"):
        records.read(store, KEY)


def test_a_directory_in_its_place_is_damage(store: Store) -> None:
    os.mkdir(store.record(KEY))
    assert layout.state(store, KEY)[0] == State.DAMAGED


def test_a_record_that_cannot_be_written_leaves_nothing(store: Store) -> None:
    os.mkdir(store.record(KEY))
    os.mkdir(f"{store.record(KEY)}/x")
    with pytest.raises(StoreFailed, match="cannot write the record"):
        records.write(store, record_of())
    assert os.listdir(store.environment(KEY)) == ["greenroom.json"]


def test_the_last_use_is_the_interpreters_last_start_but_not_before_the_build(store: Store) -> None:
    record = replace(record_of(), built_at=1000.0)
    assert records.last_used(store, record) == 1000.0
    configuration = f"{store.environment(KEY)}/pyvenv.cfg"
    with open(configuration, "w", encoding="ascii"):
        pass
    os.utime(configuration, (5000, 10))
    assert records.last_used(store, record) == 5000.0
    os.utime(configuration, (500, 10))
    assert records.last_used(store, record) == 1000.0
