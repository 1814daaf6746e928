"""The key digests everything that decides the content, and nothing else."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from greenroom.recipes import keys
from greenroom.recipes.difference import difference
from greenroom.recipes.model import (
    Build,
    BuildInputs,
    Distribution,
    Editable,
    Late,
    Python,
    Recipe,
    Wheel,
)

WORDS = st.text("abcxyz019=.-é", min_size=1, max_size=6)
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple)
INPUTS = st.builds(
    BuildInputs,
    requires=st.lists(WORDS, max_size=2).map(tuple),
    constraints=st.lists(WORDS, max_size=2).map(tuple),
    settings=PAIRS,
    variables=st.lists(st.tuples(WORDS, st.none() | WORDS), max_size=2).map(tuple),
    isolated=st.booleans(),
    sees=st.lists(WORDS, max_size=2).map(tuple),
)
CONTENTS = st.one_of(
    st.builds(Wheel, file=WORDS, sha256=WORDS),
    st.builds(Build, source=WORDS, subdirectory=st.none() | WORDS, inputs=INPUTS),
    st.builds(Editable, path=WORDS),
    st.builds(Late),
)
RECIPES = st.builds(
    Recipe,
    python=st.builds(
        Python, path=WORDS, implementation=WORDS, version=WORDS, abi=st.sampled_from(["cp311", "cp313t"])
    ),
    distributions=st.lists(
        st.builds(Distribution, name=WORDS, version=st.none() | WORDS, content=CONTENTS),
        min_size=1,
        max_size=3,
        unique_by=lambda one: one.name,
    ).map(lambda found: tuple(sorted(found, key=lambda one: one.name))),
    post_install=st.lists(st.lists(WORDS, max_size=2).map(tuple), max_size=2).map(tuple),
    last=st.lists(WORDS, max_size=2).map(tuple),
    bytecode=st.booleans(),
)


def changed(value: Any) -> list[Any]:
    """Return variants of frozen data, each with one field changed, however deep."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            dataclasses.replace(value, **{field.name: other})
            for field in dataclasses.fields(value)
            for other in changed(getattr(value, field.name))
        ]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [f"{value}!"]
    if value is None:
        return ["!", ""]
    assert isinstance(value, tuple)
    inner = [(*value[:at], other, *value[at + 1 :]) for at, one in enumerate(value) for other in changed(one)]
    pair = len(value) == 2 and all(one is None or isinstance(one, str) for one in value)
    return inner if pair and inner else [*inner, (*value, ("!", "!"))]


@given(RECIPES)
def test_every_field_of_a_recipe_is_in_the_key(recipe: Recipe) -> None:
    key = keys.key(recipe)
    variants = changed(recipe)
    assert len(variants) > len(dataclasses.fields(Recipe))
    for variant in variants:
        assert keys.key(variant) != key


@given(RECIPES, RECIPES)
def test_keys_differ_exactly_where_recipes_do_and_words_say_it(one: Recipe, other: Recipe) -> None:
    assert (keys.key(one) == keys.key(other)) is (one == other)
    assert bool(difference(one, other)) is (one != other)
    assert difference(one, one) == ()


@given(RECIPES)
def test_a_key_is_a_name_for_any_file_system(recipe: Recipe) -> None:
    assert re.fullmatch(r"cp3[0-9t]+-[a-z2-7]{24}", keys.key(recipe))
    assert keys.key(recipe) == keys.key(dataclasses.replace(recipe))


@given(st.builds(Build, source=WORDS, subdirectory=st.none() | WORDS, inputs=INPUTS), RECIPES)
def test_every_field_of_a_build_is_in_its_wheels_name(build: Build, recipe: Recipe) -> None:
    name = keys.wheel_key(build, recipe.python)
    assert all(keys.wheel_key(other, recipe.python) != name for other in changed(build))
    assert all(keys.wheel_key(build, python) != name for python in changed(recipe.python))


def test_kinds_of_content_with_equal_fields_have_different_keys() -> None:
    forms = [keys.canonical(value) for value in (Late(), (), None, "", False, 0)]
    assert len({repr(form) for form in forms}) == len(forms)


def test_the_serialization_is_what_it_was() -> None:
    """A changed digest of the same recipe would rebuild every store: then raise ``SCHEMA``, knowingly."""
    recipe = Recipe(
        python=Python(
            path="/usr/bin/python3.11",
            implementation="cpython",
            version="3.11.7",
            abi="cp311",
            system="linux-x86_64",
        ),
        distributions=(
            Distribution(name="a", version="1", content=Wheel(file="a-1-py3-none-any.whl", sha256="00")),
            Distribution(
                name="b", version="2", content=Build(source="git:1f", subdirectory=None, inputs=BuildInputs())
            ),
        ),
    )
    assert keys.key(recipe) == "cp311-72ct42adhwmeou6wzvbevlkk"
