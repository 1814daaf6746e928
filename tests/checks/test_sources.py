"""Modules and classes are found by parsing: whatever defines a class, nothing is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.workspace import write_files

from greenroom.checks.modules import Unparsable
from greenroom.checks.sources import Sources, modules_of, roots_of

if TYPE_CHECKING:
    from pathlib import Path


def _lacks(root: Path, name: str) -> str | None:
    sources = Sources([str(root)])
    module, _, rest = name.rpartition(".")
    found = sources.find(module)
    assert found is not None, f"no module {module}"
    return sources.lacks(found, (rest,))


@pytest.mark.parametrize(
    "text",
    [
        "class Worker: ...",
        "class Base: ...\nclass Worker(Base): ...",
        "import ray\n@ray.remote\nclass Worker: ...",
        "class Impl: ...\nWorker = decorated(Impl)",
        "Worker: type = make()",
        "First, Worker = make()",
        "try:\n    from fast import Worker\nexcept ImportError:\n    Worker = None",
        "if True:\n    class Worker: ...\nelse:\n    Worker = None",
        "with context():\n    class Worker: ...",
        "match 1:\n    case 1:\n        class Worker: ...",
        "from elsewhere import Worker",
        "from elsewhere import Impl as Worker",
        "from elsewhere import *",
        "import elsewhere.Worker as Worker",
        "def __getattr__(name): ...",
        "globals()['Worker'] = object",
        "for Worker in classes(): ...",
    ],
)
def test_a_class_counts_however_it_is_defined(tmp_path: Path, text: str) -> None:
    write_files(tmp_path, {"app/__init__.py": "", "app/policy.py": text})
    assert _lacks(tmp_path, "app.policy.Worker") is None


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("", "absent"),
        ("class Other: ...", "absent"),
        ("def make():\n    class Worker: ...", "absent"),
        ("Worker: type", "absent"),
        ("class Outer:\n    class Worker: ...", "absent"),
        ("def Worker(): ...", "function"),
        ("async def Worker(): ...", "function"),
        ("'class Worker: ...'", "absent"),
    ],
)
def test_what_defines_no_class_is_told(tmp_path: Path, text: str, lacks: str) -> None:
    write_files(tmp_path, {"app/__init__.py": "", "app/policy.py": text})
    assert _lacks(tmp_path, "app.policy.Worker") == lacks


@pytest.mark.parametrize(
    ("package", "lacks"),
    [
        ("from .impl import Worker", None),
        ("from app.impl import Worker", None),
        ("from . import impl\nfrom .impl import Worker", None),
        ("from .impl import Gone", "absent"),
        ("from .impl import *", None),
        ("from .empty import *", "absent"),
        ("from .impl import function as Worker", "function"),
    ],
)
def test_reexports_are_followed_below_the_roots(tmp_path: Path, package: str, lacks: str | None) -> None:
    files = {
        "app/__init__.py": package,
        "app/impl.py": "class Worker: ...\ndef function(): ...",
        "app/empty.py": "",
    }
    write_files(tmp_path, files)
    name = "Gone" if "Gone" in package else "Worker"
    assert _lacks(tmp_path, f"app.{name}") == lacks


def test_a_loop_of_reexports_ends(tmp_path: Path) -> None:
    write_files(tmp_path, {"app/__init__.py": "from app.a import W", "app/a.py": "from app import W"})
    assert _lacks(tmp_path, "app.W") is None


def test_nothing_is_executed(tmp_path: Path) -> None:
    write_files(tmp_path, {"app.py": "open('ran', 'w')\nclass Worker: ..."})
    assert _lacks(tmp_path, "app.Worker") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [b"class Worker(:\n", b"\0", "é".encode("latin-1"), b"(" * 5000])
def test_what_is_no_python_is_said(tmp_path: Path, content: bytes) -> None:
    write_files(tmp_path, {"app.py": content})
    with pytest.raises(Unparsable):
        _lacks(tmp_path, "app.Worker")


def test_spelling_counts_where_the_file_system_ignores_case(tmp_path: Path) -> None:
    write_files(tmp_path, {"app/policy.py": ""})
    assert Sources([str(tmp_path)]).find("app.Policy") is None


def test_packages_without_init_and_compiled_modules_are_found(tmp_path: Path) -> None:
    write_files(tmp_path, {"space/inner/mod.py": "class W: ...", "fast.cpython-311-x.so": b""})
    sources = Sources([str(tmp_path)])
    assert sources.find("space.inner.mod") is not None
    compiled = sources.find("fast")
    assert compiled is not None
    assert sources.lacks(compiled, ("Anything",)) is None


def test_a_class_in_a_class_is_the_last_reading_of_a_name() -> None:
    assert list(modules_of("a.b.C")) == [("a.b", ("C",)), ("a", ("b", "C"))]


@pytest.mark.parametrize(
    ("pyproject", "place"),
    [
        ({}, "."),
        ({}, "src"),
        ({"setuptools": {"package-dir": {"": "lib"}}}, "lib"),
        ({"setuptools": {"packages": {"find": {"where": ["lib"]}}}}, "lib"),
        ({"hatch": {"build": {"targets": {"wheel": {"packages": ["lib/app"]}}}}}, "lib"),
        ({"uv": {"build-backend": {"module-root": "lib"}}}, "lib"),
        ({"poetry": {"packages": [{"include": "app", "from": "lib"}]}}, "lib"),
        ({"pdm": {"build": {"package-dir": "lib"}}}, "lib"),
    ],
)
def test_source_roots_are_where_build_backends_take_packages_from(
    tmp_path: Path, pyproject: dict[str, object], place: str
) -> None:
    for name in ("src", "lib"):
        (tmp_path / name).mkdir()
    assert str((tmp_path / place).resolve()) in roots_of(str(tmp_path.resolve()), {"tool": pyproject})


@pytest.mark.parametrize(
    "pyproject", [None, {"tool": []}, {"tool": {"setuptools": 1, "hatch": {"build": []}}}]
)
def test_a_strange_pyproject_gives_the_usual_roots(
    tmp_path: Path, pyproject: dict[str, object] | None
) -> None:
    assert roots_of(str(tmp_path), pyproject) == (str(tmp_path),)
