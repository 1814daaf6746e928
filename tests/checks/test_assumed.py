"""An interpreter that is not here is assumed by its version alone."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import Tag

from greenroom.checks import assumed
from greenroom.interpreters import discovery
from greenroom.interpreters.requests import admits


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (">=3.13.14,<3.14", "3.13.14"),
        ("3.13", "3.13.0"),
        ("3.13.2", "3.13.2"),
        ("==3.12.*", "3.12.0"),
        ("~=3.12.4", "3.12.4"),
        (">3.12.4", "3.12.5"),
        ("cpython@3.12", "3.12.0"),
        ("cpython3.13", "3.13.0"),
        ("<3.12", "3.11.0"),
        (">=3.12,!=3.12.0", "3.12.1"),
        ("pypy@3.10", None),
        ("3.13t", None),
        ("nonsense", None),
    ],
)
def test_the_lowest_admitted_version_stands_in(request_: str, version: str | None) -> None:
    assert assumed.version_for(request_) == version


@given(
    st.tuples(st.integers(8, 20), st.integers(0, 30)),
    st.sampled_from([">=", "==", "~=", ">", "<", "!=", "<="]),
)
def test_what_stands_in_is_admitted(number: tuple[int, int], operator: str) -> None:
    request = f"{operator}3.{number[0]}.{number[1]}"
    version = assumed.version_for(request)
    assert version is not None
    assert admits(request, version)


@given(st.text(max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    version = assumed.version_for(text)
    assert version is None or version.count(".") == 2


def test_markers_and_tags_are_those_of_the_version_on_this_platform() -> None:
    here = discovery.driver(None, os.environ)
    there = assumed.interpreter("3.13.14", here)
    markers = dict(there.markers)
    assert (markers["python_version"], markers["python_full_version"]) == ("3.13", "3.13.14")
    assert markers["sys_platform"] == dict(here.markers)["sys_platform"]
    platforms = {tag.rpartition("-")[2] for tag in here.tags}
    assert {tag.rpartition("-")[2] for tag in there.tags} == platforms
    assert f"cp313-cp313-{here.tags[0].rpartition('-')[2]}" == there.tags[0]
    assert "py3-none-any" in there.tags
    assert not any(Tag(*tag.split("-")).abi == here.abi for tag in there.tags)
