"""The built package: what is in it, and that it works where nothing else is."""

from __future__ import annotations

import ast
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import greenroom
from tests.support.workspace import Command, clean_environment, script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.index import Index

REPOSITORY = Path(__file__).parent.parent
SOURCES = REPOSITORY / "src"
NOT_CODE = {
    "greenroom/py.typed",
    "greenroom/declaration/greenroom.schema.json",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, uv_cache: Path) -> Path:
    """Build sdist and wheel (the wheel from the sdist) with what is installed: no network."""
    directory = tmp_path_factory.mktemp("dist")
    nowhere = "http://127.0.0.1:9/simple"
    env = clean_environment(directory, index_url=nowhere, store=directory / "store", uv_cache=uv_cache)
    uv = Command(script("uv"), cwd=REPOSITORY, env=env)
    uv("build", "--no-build-isolation", "-q", "-p", sys.executable, "-o", directory / "out")
    return directory / "out"


@pytest.fixture
def wheel(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


def _tracked(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*.py")}


def test_the_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == _tracked(SOURCES) | NOT_CODE
    assert "greenroom/actor_environments.py" in names


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    stem = f"greenroom-{greenroom.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{stem}/METADATA").decode()
        entry_points = archive.read(f"{stem}/entry_points.txt").decode()
        assert f"{stem}/licenses/LICENSE" in archive.namelist()
    assert f"\nVersion: {greenroom.__version__}\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "greenroom = greenroom.cli:entry" in entry_points


def test_the_version_stands_in_one_place() -> None:
    code = [*SOURCES.rglob("*.py"), REPOSITORY / "pyproject.toml"]
    holders = [path.name for path in code if f'"{greenroom.__version__}"' in path.read_text(encoding="utf-8")]
    assert holders == ["__init__.py"]


@pytest.fixture
def installed(wheel: Path, uv: Command, tmp_path: Path) -> Iterator[Command]:
    """Install the wheel alone; its dependencies are seen in the tests' environment."""
    venv = tmp_path / "venv"
    uv("venv", "-q", "-p", sys.executable, venv)
    uv("pip", "install", "-q", "--no-deps", "--no-index", "-p", venv / "bin/python", wheel)
    (site,) = venv.glob("lib/python*/site-packages")
    dependencies = next(path for path in sys.path if path.endswith("site-packages"))
    # Appended by path alone: its .pth files, greenroom's own editable one among them, do not count.
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    command = Command(str(venv / "bin/greenroom"), cwd=tmp_path, env=uv.env)
    yield command
    command.close()


def test_the_installed_wheel_runs(installed: Command) -> None:
    assert installed("--version").stdout == f"greenroom {greenroom.__version__}\n"


def test_the_installed_wheel_runs_as_a_module(installed: Command) -> None:
    python = Command(str(Path(installed.program).with_name("python")), cwd=installed.cwd, env=installed.env)
    code = "import greenroom; print(greenroom.__file__)"
    assert str(Path(installed.program).parent.parent) in python("-c", code).stdout
    assert python("-m", "greenroom", "--version").stdout == f"greenroom {greenroom.__version__}\n"


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a bare script has no package"
            names.add(str(node.module).partition(".")[0])
    return names


def test_actor_environments_needs_the_standard_library_only() -> None:
    assert _imported(SOURCES / "greenroom/actor_environments.py") <= sys.stdlib_module_names


def test_actor_environments_runs_as_a_bare_script(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        bare = Path(archive.extract("greenroom/actor_environments.py", tmp_path / "layer"))
    python = Command(sys.executable, cwd=tmp_path, env={"PATH": ""})
    python("-I", "-S", bare, "--help")


def test_the_index_is_not_asked_while_building(built: Path, index: Index) -> None:
    assert len(list(built.iterdir())) >= 2
    assert index.requests == ()
