"""The public names of ``greenroom.ray``, and that asking for them needs no Ray."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import greenroom.ray


def test_the_package_shows_its_public_names_and_nothing_else() -> None:
    assert dir(greenroom.ray) == greenroom.ray.__all__ == sorted(greenroom.ray.__all__)
    with pytest.raises(AttributeError, match="qwertz"):
        getattr(greenroom.ray, "qwertz")  # noqa: B009 - the name is not there for type checkers either


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(str(greenroom.ray.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    named = {alias.asname for line in block.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert named == set(greenroom.ray.__all__)


def test_importing_every_name_imports_no_ray() -> None:
    script = "import sys, greenroom.ray as r; [getattr(r, n) for n in r.__all__]; print('ray' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
