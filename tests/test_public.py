"""What may be imported, and what importing it costs."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import greenroom

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

ROOT = Path(greenroom.__file__).parent
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages([str(ROOT)], "greenroom.")
    if not module.ispkg and not module.name.endswith("__main__")
)
HEAVY = {
    "argcomplete",
    "httpx",
    "importlib.metadata",
    "msgspec",
    "packaging",
    "rich",
    "subprocess",
    "tomlkit",
}
"""Modules that starting must not load: each costs several times bare Python."""
TRACED = {
    "PYTHONPROFILEIMPORTTIME": "1",
    # Measuring coverage would load modules of its own.
    "COVERAGE_PROCESS_START": None,
    "COVERAGE_PROCESS_CONFIG": None,
}


def _type_checking_names(tree: ast.Module) -> set[str]:
    blocks = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    imports = [line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom)]
    return {alias.asname or alias.name for line in imports for alias in line.names}


def test_the_root_shows_its_public_names_and_nothing_else() -> None:
    assert dir(greenroom) == greenroom.__all__ == sorted(greenroom.__all__)


def test_type_checkers_see_the_same_public_names() -> None:
    tree = ast.parse(Path(greenroom.__file__).read_text(encoding="utf-8"))
    assert _type_checking_names(tree) == set(greenroom.__all__)


@pytest.mark.parametrize("name", greenroom.__all__)
def test_a_public_name_leads_to_its_home(name: str) -> None:
    assert getattr(greenroom, name).__module__.startswith("greenroom.")


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="qwertz"):
        getattr(greenroom, "qwertz")  # noqa: B009 - the name is not there for type checkers either


@pytest.mark.parametrize("name", MODULES)
def test_a_module_lists_exactly_its_public_classes_and_functions(name: str) -> None:
    module = importlib.import_module(name)
    # callable, not isfunction: a cached function is an object of another type.
    own = [
        word
        for word, value in vars(module).items()
        if not word.startswith("_") and callable(value) and getattr(value, "__module__", None) == name
    ]
    assert module.__all__ == sorted(own)


LONG = {
    "greenroom.actor_environments": "runs as a bare script, so it is one file",
    "greenroom.errors": "one tree, read in one place",
}


@pytest.mark.parametrize("name", [name for name in MODULES if name not in LONG])
def test_a_module_stays_below_three_hundred_lines(name: str) -> None:
    source = Path(str(importlib.import_module(name).__file__)).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 300


def _loaded(stderr: str) -> set[str]:
    lines = [line for line in stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_importing_the_root_loads_nothing_more() -> None:
    run = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", "-c", "import greenroom"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = _loaded(run.stderr)
    assert "greenroom" in loaded
    assert not {name for name in loaded if name.startswith("greenroom.")}
    assert not loaded & HEAVY


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_the_command_starts_without_heavy_modules(greenroom: Command, arguments: tuple[str, ...]) -> None:
    run = greenroom(*arguments, env=TRACED)
    assert "greenroom" in _loaded(run.stderr)
    assert not _loaded(run.stderr) & HEAVY


@pytest.mark.parametrize("arguments", [("python", "app.A"), ("list",), ("status",), ("sync",)])
def test_a_no_op_loads_no_heavy_module(
    greenroom: Command,
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    arguments: tuple[str, ...],
) -> None:
    index.add_wheel("tool", "1.0")
    pyproject = '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11"\n'
    pyproject += '[project.optional-dependencies]\na = ["tool"]\n'
    uv_lock(project({"pyproject.toml": pyproject, "greenroom.toml": '[actors]\n"app.A" = ["a"]\n'}))
    greenroom("sync")
    greenroom(*arguments)  # the full road may still leave what the next one reads
    run = greenroom(*arguments, env=TRACED)
    assert not _loaded(run.stderr) & (HEAVY | {"greenroom.uv", "greenroom.builder", "hashlib"})
