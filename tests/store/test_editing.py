"""A private copy can be edited, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.storing import KEY

from greenroom.errors import CopyRefused, EnvironmentGone
from greenroom.store import editing, layout, rows
from greenroom.store.verify import verify

if TYPE_CHECKING:
    from tests.support.environments import Workshop


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("folder", ["copy", "a 'copy' & $(touch x) ü"])
def test_an_edit_counts_in_the_copy_and_nowhere_else(workshop: Workshop, folder: str) -> None:
    source = "VALUE = 1\ndef main():\n    print(VALUE)\n"
    made = workshop.wheel("alpha", scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": source})
    done = workshop.environment(made, workshop.editable("local"), bytecode=True)
    path = editing.copy(workshop.store, done.record.key, f"{workshop.directory}/{folder}", name="app.A")
    module = Path(f"{path}/{rows.site_packages(path)}/alpha/__init__.py")
    assert module.stat().st_nlink == 1
    module.write_text(source.replace("1", "2"))
    assert run(f"{path}/bin/alpha") == "2"
    assert run(f"{done.path}/bin/alpha") == "1"
    assert run(f"{path}/bin/python", "-c", "import sys, local; print(sys.prefix)") == path
    assert verify(workshop.store, done.record.key, group=workshop.group, deep=True) == ()
    workshop.install(path, workshop.wheel("stray"))
    assert run(f"{path}/bin/python", "-c", "import stray; print(stray.__version__)") == "1.0"


def test_a_copy_says_that_it_is_one_and_is_no_environment_of_the_store(workshop: Workshop) -> None:
    done = workshop.environment(workshop.wheel("alpha"), bytecode=True)
    path = editing.copy(workshop.store, done.record.key, f"{workshop.directory}/copy", name="app.A")
    assert done.record.key in Path(f"{path}/{editing.MARK}").read_text()
    assert "prompt = edit-app.A" in Path(f"{path}/pyvenv.cfg").read_text()
    assert not os.path.lexists(f"{path}/greenroom.json")
    assert not list(Path(path).rglob("__pycache__"))
    assert layout.keys(workshop.store) == (done.record.key,)


def test_texts_that_name_the_environment_name_the_copy(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    recipe = workshop.recipe(made, post_install=(("x",),))
    from greenroom.recipes import keys

    def leave(root: str) -> None:
        Path(f"{root}/bin/tool").write_text(f"#!/bin/sh\necho {root}\n")
        Path(f"{root}/bin/tool").chmod(0o755)

    done = workshop.commit(workshop.private(keys.key(recipe), made), recipe, on_moved=leave)
    path = editing.copy(workshop.store, done.record.key, f"{workshop.directory}/copy")
    assert run(f"{path}/bin/tool") == path
    assert run(f"{done.path}/bin/tool") == done.path


def test_nothing_is_overwritten_and_nothing_is_put_into_the_store(workshop: Workshop) -> None:
    done = workshop.environment(workshop.wheel("alpha"))
    key, store = done.record.key, workshop.store
    full = workshop.directory / "full"
    full.mkdir()
    (full / "x").touch()
    for target, words in (
        (str(full), "not empty"),
        (str(full / "x"), "something stands there"),
        (f"{store.path}/copy", "inside the store"),
        (f"{store.path}", "inside the store"),
    ):
        with pytest.raises(CopyRefused, match=words):
            editing.copy(store, key, target)
    with pytest.raises(EnvironmentGone):
        editing.copy(store, KEY, f"{workshop.directory}/copy")
    (workshop.directory / "empty").mkdir()
    assert editing.copy(store, key, f"{workshop.directory}/empty")
