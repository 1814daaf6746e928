"""The one wheel is chosen as the reference implementation chooses it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import Tag, create_compatible_tags_selector
from packaging.utils import parse_wheel_filename
from tests.support import targets

from greenroom.locks.model import File
from greenroom.recipes.choosing import best_wheel, tags_of

TARGETS = (targets.linux("3.11.7"), targets.linux("3.13.14", machine="aarch64", glibc=17), targets.macos())
TAGS = st.sampled_from(
    [
        "py3-none-any",
        "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp311-abi3-manylinux_2_28_x86_64",
        "cp38-abi3-manylinux_2_28_x86_64",
        "cp313-cp313-manylinux_2_17_aarch64",
        "cp313-cp313-manylinux_2_28_aarch64",
        "cp311-none-macosx_11_0_arm64",
        "cp313-cp313t-manylinux_2_17_x86_64",
        "cp311-cp311-win_amd64",
        "py3-none-linux_x86_64",
    ]
)


def wheel(tag: str, build: str = "") -> File:
    return File(name=f"x-1.0-{build}{tag}.whl", location="https://h/x", sha256="00")


@given(st.lists(TAGS, max_size=6, unique=True), st.integers(min_value=0, max_value=len(TARGETS) - 1))
def test_the_best_wheel_is_the_references(tags: list[str], number: int) -> None:
    target = TARGETS[number]
    wheels = [wheel(tag) for tag in tags]
    accepted = [Tag(*tag.split("-", 2)) for tag in target.tags]
    select = create_compatible_tags_selector(accepted)
    expected = next(iter(select((one.name, parse_wheel_filename(one.name)[-1]) for one in wheels)), None)
    best = best_wheel(wheels, target.tags)
    assert (best.name if best else None) == expected


def test_the_higher_build_number_wins_among_equal_tags() -> None:
    wheels = [wheel("py3-none-any", build) for build in ("2-", "", "10-", "9b-")]
    best = best_wheel(wheels, TARGETS[0].tags)
    assert best is not None
    assert best.name == "x-1.0-10-py3-none-any.whl"


def test_the_order_in_the_lock_makes_no_difference() -> None:
    wheels = [
        wheel("py3-none-any"),
        wheel("cp311-abi3-manylinux_2_28_x86_64"),
        wheel("cp38-abi3-manylinux_2_28_x86_64"),
    ]
    assert best_wheel(wheels, TARGETS[0].tags) == best_wheel(wheels[::-1], TARGETS[0].tags) == wheels[1]


def test_a_name_that_is_no_wheels_is_passed_over() -> None:
    broken = File(name="x.whl", location="", sha256=None)
    assert best_wheel([broken, wheel("py3-none-any")], TARGETS[0].tags) == wheel("py3-none-any")
    assert tags_of([wheel("py3-none-any"), wheel("py3-none-any", "1-")]) == ("py3-none-any",)
