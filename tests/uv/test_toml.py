"""What is written as TOML is read back as the same."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.uv import toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXT
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(name=TEXT, value=VALUES)
def test_a_value_is_read_back(name: str, value: object) -> None:
    assert tomllib.loads(f"{toml.key(name)} = {toml.inline(value)}") == {name: value}


def test_what_toml_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError):
        toml.inline(None)
