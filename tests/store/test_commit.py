"""From a private directory to a ready environment, with the real uv and interpreter."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from greenroom.errors import ClashError, ProofFailed
from greenroom.recipes import keys
from greenroom.store import layout, records
from greenroom.store.model import State

if TYPE_CHECKING:
    from tests.support.environments import Workshop


def run(root: str, code: str) -> str:
    return subprocess.run(
        [f"{root}/bin/python", "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_an_environment_is_ready_when_its_record_is_written(workshop: Workshop) -> None:
    made = workshop.wheel(
        "alpha", scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": "def main(): print(7)\n"}
    )
    recipe = workshop.recipe(made)
    key = keys.key(recipe)
    private = workshop.private(key, made)
    assert layout.state(workshop.store, key) == (State.MISSING, "not built")
    done = workshop.commit(private, recipe)
    assert layout.state(workshop.store, key) == (State.READY, "")
    assert done.path == f"{workshop.store.path}/{key}"
    assert not os.path.lexists(private)
    assert run(done.path, "import alpha; alpha.main()") == "7"
    assert (
        subprocess.run([f"{done.path}/bin/alpha"], capture_output=True, text=True, check=True).stdout == "7\n"
    )
    assert layout.find([workshop.store], key) == (workshop.store, done.record)


def test_the_record_says_what_was_proven(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", "1.2")
    done = workshop.environment(made)
    record = done.record
    assert [(item.name, item.version, item.wheel) for item in record.installed] == [
        ("alpha", "1.2", made.distribution.content.sha256)  # type: ignore[union-attr]
    ]
    assert record.base[0] == workshop.interpreter.path
    assert record.linked > 0
    assert record.copied == 0
    assert record.machine
    assert records.read(workshop.store, record.key) == record


def test_nothing_of_a_failed_attempt_remains(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    recipe = workshop.recipe(made)
    private = workshop.private(keys.key(recipe), made)
    os.unlink(
        f"{private}/lib/python{'.'.join(workshop.interpreter.version.split('.')[:2])}/site-packages/alpha/__init__.py"
    )
    with pytest.raises(ProofFailed) as caught:
        workshop.commit(private, recipe)
    assert caught.value.distributions == ("alpha",)
    assert "alpha/__init__.py" in str(caught.value)
    assert layout.keys(workshop.store) == ()
    assert os.listdir(workshop.store.building) == os.listdir(workshop.store.trash) == []


def test_a_leftover_at_the_final_path_gives_way(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    recipe = workshop.recipe(made)
    key = keys.key(recipe)
    private = workshop.private(key, made)
    os.makedirs(f"{workshop.store.environment(key)}/lib/old")
    done = workshop.commit(private, recipe)
    assert not os.path.lexists(f"{done.path}/lib/old")
    assert os.listdir(workshop.store.trash) == []


def test_a_clash_is_named_and_the_declared_winner_stands(workshop: Workshop) -> None:
    one = workshop.wheel("alpha", files={"shared.py": "VALUE = 'alpha'\n"})
    two = workshop.wheel("beta", files={"shared.py": "VALUE = 'beta!'\n"})
    recipe = workshop.recipe(one, two)
    with pytest.raises(ClashError, match=r"alpha and beta bring different files: .*shared\.py"):
        workshop.commit(workshop.private(keys.key(recipe), one, two), recipe)
    decided = workshop.recipe(one, two, last=("alpha",))
    key = keys.key(decided)
    with pytest.raises(ProofFailed, match=r"shared\.py"):
        workshop.commit(workshop.private(key, one, two), decided)
    done = workshop.commit(workshop.private(key, two, one), decided)
    assert run(done.path, "import shared; print(shared.VALUE)") == "alpha"
    assert [(item.owners, item.winner) for item in done.record.clashes] == [(("alpha", "beta"), "alpha")]


def test_equal_files_of_two_owners_are_no_clash(workshop: Workshop) -> None:
    one = workshop.wheel("alpha", files={"shared/__init__.py": "\n"})
    two = workshop.wheel("beta", files={"shared/__init__.py": "\n"})
    assert workshop.environment(one, two).record.clashes == ()


def test_a_partial_environment_is_continued_where_it_stands(workshop: Workshop) -> None:
    alpha, late = workshop.wheel("alpha"), workshop.wheel("late")
    recipe = workshop.recipe(alpha, late=["late"])
    key = keys.key(recipe)
    done = workshop.commit(workshop.private(key, alpha), recipe, build={"pending": ("late",)})
    assert layout.state(workshop.store, key) == (State.PARTIAL, "still to come: late")
    assert layout.find([workshop.store], key) is None
    inode = os.stat(done.path).st_ino
    workshop.install(done.path, late)
    again = workshop.commit(done.path, recipe, build={"wheels": (("late", "0" * 64),)})
    assert layout.state(workshop.store, key) == (State.READY, "")
    assert os.stat(again.path).st_ino == inode
    assert not os.path.lexists(workshop.store.partial(key))
    assert {item.name: item.wheel for item in again.record.installed}["late"] == "0" * 64
