"""What makes one environment another is said with the package's name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

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

PYTHON = Python(path="/a/python3.11", implementation="cpython", version="3.11.7", abi="cp311")
BUILD = Build(source="git:" + "a" * 40, subdirectory=None, inputs=BuildInputs())


def one(version: str | None, content: Any) -> Recipe:
    return Recipe(
        python=PYTHON, distributions=(Distribution(name="numpy", version=version, content=content),)
    )


def built(**inputs: Any) -> Recipe:
    return one("1", replace(BUILD, inputs=BuildInputs(**inputs)))


WHEEL = Wheel(file="numpy-1-py3-none-any.whl", sha256="00")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (one("1.26", WHEEL), one("2.0", WHEEL), "numpy 1.26 → 2.0"),
        (one("1", WHEEL), replace(one("1", WHEEL), distributions=()), "numpy 1 is gone"),
        (replace(one("1", WHEEL), distributions=()), one("1", WHEEL), "numpy 1 is new"),
        (
            one("1", WHEEL),
            one("1", replace(WHEEL, file="b.whl")),
            f"numpy 1: another file, {WHEEL.file} → b.whl",
        ),
        (
            one("1", WHEEL),
            one("1", replace(WHEEL, sha256="1")),
            "numpy 1: the same file name with other content",
        ),
        (one("1", WHEEL), one("1", BUILD), "numpy 1: a wheel → built from source"),
        (one("1", Late()), one("1", WHEEL), "numpy 1: brought by an image stage → a wheel"),
        (one(None, Editable(path="/a")), one(None, Editable(path="/b")), "numpy: /a → /b"),
        (
            one("1", BUILD),
            one("1", replace(BUILD, source="git:" + "b" * 40, subdirectory="in")),
            "numpy 1: its source changed, git aaaaaaaaaaaa → git bbbbbbbbbbbb in in",
        ),
        (
            built(variables=(("ARCH", "80"), ("JOBS", None))),
            built(variables=(("ARCH", "90"), ("JOBS", None))),
            "numpy 1: build variable ARCH=80 → ARCH=90",
        ),
        (built(), built(constraints=("setuptools<70",)), "numpy 1: build constraint none → setuptools<70"),
        (
            built(isolated=False, sees=("torch==1@" + "a" * 64,)),
            built(isolated=False, sees=("torch==2@" + "b" * 64,)),
            "numpy 1: package that its build sees torch==1 (aaaaaaaaaaaa) → torch==2 (bbbbbbbbbbbb)",
        ),
        (built(), built(isolated=False), "numpy 1: built without isolation now"),
        (one("1", WHEEL), replace(one("1", WHEEL), bytecode=False), "bytecode is not compiled now"),
        (one("1", WHEEL), replace(one("1", WHEEL), last=("numpy",)), "allow-clash none → numpy"),
        (one("1", WHEEL), replace(one("1", WHEEL), post_install=(("a", "b"),)), "post-install none → a b"),
        (
            one("1", WHEEL),
            replace(one("1", WHEEL), python=replace(PYTHON, version="3.12.1")),
            "Python 3.11.7 → Python 3.12.1",
        ),
        (
            one("1", WHEEL),
            replace(one("1", WHEEL), python=replace(PYTHON, path="/b")),
            "the interpreter /a/python3.11 → /b",
        ),
    ],
)
def test_one_change_is_one_line(old: Recipe, new: Recipe, line: str) -> None:
    assert difference(old, new) == (line,)


def test_many_changes_of_one_kind_are_counted() -> None:
    many = tuple((f"V{number}", "1") for number in range(9))
    (line,) = difference(built(), built(variables=many))
    assert line.endswith("V0=1, V1=1, V2=1 and 6 more")
