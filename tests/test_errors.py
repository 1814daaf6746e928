"""One tree of errors, read in the docstring; each survives pickling and says one line."""

from __future__ import annotations

import ast
import collections.abc
import importlib
import inspect
import os
import pickle
import re
import types
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from greenroom import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

MIDDLE = {
    errors.FailedError: 1,
    errors.UseError: 2,
    errors.NotReadyError: 3,
    errors.InterruptedRunError: 130,
}


def _below(cls: type[errors.GreenroomError]) -> Iterator[type[errors.GreenroomError]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


for _name in errors.__all__:
    getattr(errors, _name)
CLASSES = [cls for cls in _below(errors.GreenroomError) if cls.__module__.startswith("greenroom.")]
LEAVES = [cls for cls in CLASSES if cls not in MIDDLE and not cls.__subclasses__()]


def _names_for_type_checkers() -> dict[str, Any]:
    """Import what the modules of errors name below ``TYPE_CHECKING``: annotations use it."""
    modules = Path(errors.__file__).parent.glob("*.py")
    imports = [
        line
        for module in modules
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.If)
        for line in node.body
        if isinstance(line, ast.ImportFrom)
    ]
    return {
        alias.name: getattr(importlib.import_module(str(line.module)), alias.name)
        for line in imports
        for alias in line.names
    }


NAMES = _names_for_type_checkers()


def _sample(kind: Any, name: str) -> Any:  # noqa: PLR0911 - one return for each kind of type
    """Return a value of a parameter's type."""
    simple: dict[Any, Any] = {str: f"<{name}>", int: 7, float: 1.5, bool: True, bytes: b"x", Any: name}
    if kind in simple:
        return simple[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _sample(arguments[0], name)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (collections.abc.Mapping, dict):
        return {_sample(arguments[0], name): _sample(arguments[1], name)}
    if origin in (tuple, list, set, frozenset, collections.abc.Iterable, collections.abc.Sequence):
        parts = [part for part in arguments if part is not Ellipsis]
        items = [_sample(part, name) for part in parts]
        return tuple(items)
    if inspect.isclass(kind) and issubclass(kind, Exception):
        return errors.GreenroomError("cause") if issubclass(kind, errors.GreenroomError) else OSError("cause")
    if inspect.isclass(kind) and hasattr(kind, "__dataclass_fields__"):
        return _make(kind)
    pytest.fail(f"no sample for parameter {name} of type {kind!r}: add one to tests/test_errors.py")


def _make(cls: type[Any]) -> Any:
    hints = typing.get_type_hints(cls.__init__, vars(errors) | NAMES)
    positional, named = [], {}
    for name, parameter in list(inspect.signature(cls).parameters.items()):
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.append(_sample(hints[name], name))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[name] = _sample(hints[name], name)
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            positional.append(_sample(hints[name], name))
    return cls(*positional, **named)


def test_each_middle_class_has_the_status_of_its_kind() -> None:
    assert {cls: cls.status for cls in errors.GreenroomError.__subclasses__() if cls in MIDDLE} == MIDDLE
    assert set(errors.GreenroomError.__subclasses__()) <= set(MIDDLE)


def test_the_docstring_shows_the_middle_classes() -> None:
    shown = re.findall(r"^ {8}(\w+) +status (\d+)", str(errors.__doc__), re.MULTILINE)
    assert shown == [(cls.__name__, str(status)) for cls, status in MIDDLE.items()]


def test_every_error_lives_with_its_part_and_is_imported_from_one_place() -> None:
    assert {cls.__module__.rpartition(".")[0] for cls in CLASSES} == {"greenroom.errors"}
    assert {cls.__name__ for cls in CLASSES} <= set(dir(errors))


@pytest.mark.parametrize("cls", LEAVES, ids=lambda cls: cls.__name__)
def test_a_leaf_says_one_line_and_survives_pickling(cls: type[errors.GreenroomError]) -> None:
    error = _make(cls)
    text = str(error)
    assert text
    assert "\n" not in text
    assert error.status in MIDDLE.values()
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is cls
    assert str(again) == text
    assert again.status == error.status
    assert repr(again.__dict__) == repr(error.__dict__)


@pytest.mark.parametrize("cls", LEAVES, ids=lambda cls: cls.__name__)
def test_a_leaf_is_raised_by_the_program(cls: type[errors.GreenroomError]) -> None:
    root = Path(errors.__file__).parent.parent
    sources = (path for path in root.rglob("*.py") if path.parent.name != "errors")
    used = any(re.search(rf"\b{cls.__name__}\b", path.read_text(encoding="utf-8")) for path in sources)
    assert used, "nothing names this error"


def test_problems_have_the_gravest_status() -> None:
    both = errors.Problems([errors.UseError("a"), errors.NotReadyError("b", where="f:1", todo="do")])
    assert both.status == 3
    assert both.lines() == ("a", "f:1: b (do)")


def _table() -> str:
    """Return the page of errors: what each status means, and each error below it."""
    lines = [
        "# Errors",
        "",
        "Every error that a user can cause, by the command's exit status. From Python they are classes of",
        "`greenroom.errors` below `greenroom.GreenroomError`, with typed fields; each survives pickling.",
        "(This page is made from the classes: `GREENROOM_TEST_WRITE=1 scripts/test tests/test_errors.py`.)",
    ]
    for kind, status in MIDDLE.items():
        lines += ["", f"## Exit status {status}: {inspect.cleandoc(str(kind.__doc__)).splitlines()[0]}", ""]
        lines += ["| error | says |", "|---|---|"]
        below = sorted(cls.__name__ for cls in [kind, *_below(kind)] if cls in LEAVES or cls is kind)
        for name in below:
            says = inspect.cleandoc(str(getattr(errors, name).__doc__)).splitlines()[0]
            lines.append(f"| `{name}` | {says} |")
    return "\n".join(lines) + "\n"


def test_the_documentation_lists_every_error() -> None:
    page = Path(__file__).parent.parent / "docs/errors.md"
    if "GREENROOM_TEST_WRITE" in os.environ:
        page.write_text(_table(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == _table()
