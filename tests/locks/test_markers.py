"""Markers are parsed once and evaluated as the reference implementation does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from tests.support import targets

from greenroom.locks import equivalence, markers

LINUX = targets.linux("3.12.1")
ATOMS = st.sampled_from(
    [
        "sys_platform == 'linux'",
        "sys_platform != 'win32'",
        "'linux' in sys_platform",
        "platform_machine not in 'x86_64 AMD64'",
        "python_version >= '3.12'",
        "python_full_version < '3.12.2'",
        "python_version == '3.11.*'",
        "'3.13' > python_version",
        'implementation_name == "cpython"',
        "platform_release >= 'strange'",
    ]
)
MARKERS = st.recursive(
    ATOMS,
    lambda inner: st.tuples(inner, st.sampled_from(["and", "or"]), inner, st.booleans()).map(
        lambda parts: (
            f"({parts[0]} {parts[1]} {parts[2]})" if parts[3] else f"{parts[0]} {parts[1]} {parts[2]}"
        )
    ),
    max_leaves=8,
)


@given(MARKERS)
def test_value_is_the_references(marker: str) -> None:
    assert markers.target(LINUX.markers).holds(marker) is Marker(marker).evaluate(dict(LINUX.markers))


@given(MARKERS)
def test_a_marker_is_equivalent_to_its_normal_spelling(marker: str) -> None:
    assert equivalence.equivalent(markers.parse(marker), markers.parse(str(Marker(marker))), None)


@given(MARKERS)
def test_a_marker_is_not_equivalent_to_its_opposite(marker: str) -> None:
    tree = markers.parse(marker)
    assert not equivalence.equivalent(tree, equivalence.negation(tree), None)


@given(MARKERS, MARKERS)
def test_and_and_or_do_not_depend_on_order(one: str, other: str) -> None:
    left, right = markers.parse(one), markers.parse(other)
    for join in (equivalence.conjunction, equivalence.disjunction):
        assert equivalence.equivalent(join(left, right), join(right, left), None)


def test_what_python_is_required_anyway_makes_no_difference() -> None:
    needless = markers.parse("python_version >= '3.11' and sys_platform == 'linux'")
    plain = markers.parse("sys_platform == 'linux'")
    assert equivalence.equivalent(needless, plain, ">=3.11")
    assert not equivalence.equivalent(needless, plain, ">=3.10")


def test_a_contradiction_is_not_satisfiable() -> None:
    assert not equivalence.satisfiable(markers.parse("sys_platform == 'a' and sys_platform == 'b'"), None)
    assert not equivalence.satisfiable(markers.parse("python_version < '3.11'"), ">=3.11")


def test_extras_and_groups_are_asked_of_the_sets() -> None:
    target = markers.target(LINUX.markers)
    active = {markers.conflict_item("app", extra="a"), markers.conflict_item("app", group="g")}
    assert target.holds("extra == 'extra-3-app-a' and extra == 'group-3-app-g'", extras=active)
    assert target.holds("extra != 'project-3-app'", extras=active)
    assert not target.holds("extra == 'extra-3-app-b'", extras=active)
    assert target.holds("'x' in extras or 'y' not in dependency_groups", extras={"x"}, groups={"y"})
    assert not target.holds("'x' not in extras or 'y' not in dependency_groups", extras={"x"}, groups={"y"})


def test_an_absent_marker_holds() -> None:
    assert markers.target(LINUX.markers).holds(None)
    assert markers.target(LINUX.markers).holds("")


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "sys_platform =",
        "sys_platform == 'a' and",
        "(sys_platform == 'a'",
        "a == 'b' c == 'd'",
        "()",
        "nothing == 'x'",
    ],
)
def test_what_is_no_marker_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a marker"):
        markers.target(LINUX.markers).holds(text)


def test_nesting_beyond_reason_is_refused_and_not_a_crash() -> None:
    depth = 100_000
    with pytest.raises(ValueError, match="not a marker"):
        markers.parse("(" * depth + "sys_platform == 'a'" + ")" * depth)
