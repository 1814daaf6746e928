"""Files once: what uv copied is linked to an environment that has it already."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from greenroom.recipes import keys
from greenroom.store import links
from greenroom.store.links import Shared

if TYPE_CHECKING:
    from tests.support.environments import Workshop


def inodes(root: str, ending: str) -> dict[str, tuple[int, int]]:
    found = {}
    for path in Path(root).rglob(f"*{ending}"):
        status = path.lstat()
        found[str(path.relative_to(root))] = (status.st_ino, status.st_nlink)
    return found


def test_where_uv_linked_nothing_is_done(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    workshop.environment(made)
    private = workshop.private("x", made)
    assert links.share(workshop.store, private, workshop.recipe(made)) == Shared()


def test_copies_become_links_to_a_ready_environment(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", files={"alpha/big.txt": "x" * 5000})
    first = workshop.environment(made, link_mode="copy")
    assert first.record.linked == 0
    assert first.shared.size > 5000
    second = workshop.environment(made, workshop.wheel("beta"), link_mode="copy")
    mine, theirs = inodes(second.path, "big.txt"), inodes(first.path, "big.txt")
    assert mine == theirs
    assert second.record.linked > 0
    assert {nlink for _, nlink in inodes(second.path, "beta/__init__.py").values()} == {1}


def test_another_wheel_of_the_same_version_shares_nothing(workshop: Workshop) -> None:
    first = workshop.environment(workshop.wheel("alpha", files={"alpha/big.txt": "x" * 50}), link_mode="copy")
    other = workshop.wheel("alpha", files={"alpha/big.txt": "x" * 50, "alpha/more.txt": "y"})
    second = workshop.environment(other, link_mode="copy")
    assert second.record.linked == 0
    assert inodes(first.path, "big.txt") != inodes(second.path, "big.txt")


def test_a_donor_without_a_readable_record_or_with_other_bytes_gives_nothing(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", files={"alpha/big.txt": "x" * 50})
    first = workshop.environment(made, link_mode="copy")
    (path,) = Path(first.path).rglob("big.txt")
    os.truncate(path, 49)
    again = workshop.environment(made, bytecode=True, link_mode="copy")
    assert {nlink for _, nlink in inodes(again.path, "big.txt").values()} == {1}
    for done in (first, again):
        Path(workshop.store.record(done.record.key)).write_text("{")
    third = workshop.environment(made, last=("alpha",), link_mode="copy")
    assert third.record.linked == 0


@pytest.mark.parametrize("number", [errno.EPERM, errno.EXDEV, errno.EMLINK])
def test_what_cannot_be_linked_stays_a_copy_and_is_counted(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    made = workshop.wheel("alpha")
    workshop.environment(made, link_mode="copy")
    recipe = workshop.recipe(made, bytecode=True)
    private = workshop.private(keys.key(recipe), made, link_mode="copy")
    before = sorted(str(path) for path in Path(private).rglob("*"))
    monkeypatch.setattr(os, "link", refuse)
    found = links.share(workshop.store, private, recipe)
    assert found.linked == 0
    assert found.copied > 3
    assert found.size > 0
    assert sorted(str(path) for path in Path(private).rglob("*")) == before


def test_wheels_that_were_built_here_are_shared_by_their_digest(workshop: Workshop) -> None:
    made = workshop.wheel("late", files={"late/big.txt": "x" * 500})
    recipe = workshop.recipe(late=["late"])
    wheels = {"wheels": (("late", "5" * 64),)}
    first = workshop.commit(workshop.private(keys.key(recipe), made, link_mode="copy"), recipe, build=wheels)
    other = workshop.recipe(late=["late"], bytecode=True)
    second = workshop.commit(workshop.private(keys.key(other), made, link_mode="copy"), other, build=wheels)
    assert inodes(first.path, "big.txt") == inodes(second.path, "big.txt")
