"""One reader takes every kind of source, and says which files decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import targets

from greenroom.components import (
    EnvironmentSpec,
    InlineSource,
    Options,
    Origin,
    ProjectSource,
    PylockSource,
    RequirementsSource,
)
from greenroom.errors import StaleLock
from greenroom.locks import reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Outcome

    from greenroom.components import Source

PYPROJECT = """[project]
name = "app"
version = "0"
requires-python = ">=3.11,<3.14"
dependencies = []
[project.optional-dependencies]
a = ["iniconfig==2.0.0"]
b = ["iniconfig==1.1.1"]
[tool.uv]
conflicts = [[{extra = "a"}, {extra = "b"}]]
no-binary-package = ["other"]
"""


def spec(source: Source) -> EnvironmentSpec:
    origin = Origin(file="greenroom.toml", line=2, key='[actors] "app.A"')
    return EnvironmentSpec(source=source, options=Options(), lock_name="x", origin=origin)


@pytest.fixture
def app(index: Index, project: Callable[..., Path], uv_lock: Callable[..., Outcome]) -> Path:
    for version in ("1.1.1", "2.0.0"):
        index.add_wheel("iniconfig", version)
    directory = project({"pyproject.toml": PYPROJECT})
    uv_lock(directory)
    return directory


def test_a_uv_project_is_read_with_its_settings(app: Path) -> None:
    selection = reading.read(
        spec(ProjectSource(directory=str(app), extras=("b",))), str(app), targets.linux(), {}
    )
    assert [(one.name, one.version) for one in selection.distributions] == [
        ("app", "0"),
        ("iniconfig", "1.1.1"),
    ]
    assert selection.settings.no_binary == ("other",)
    assert str(app / "uv.lock") in selection.files


def test_a_changed_extra_is_an_error_that_names_package_and_command(app: Path) -> None:
    (app / "pyproject.toml").write_text(PYPROJECT.replace("iniconfig==2.0.0", "iniconfig==1.1.1"))
    with pytest.raises(StaleLock) as caught:
        reading.read(spec(ProjectSource(directory=str(app), extras=("b",))), str(app), targets.linux(), {})
    assert "iniconfig ==2.0.0" in str(caught.value)
    assert f"uv lock --project {app}" in str(caught.value)


def test_what_a_stale_lock_does_not_know_yet_is_a_stale_lock(app: Path) -> None:
    text = PYPROJECT.replace(
        "[project.optional-dependencies]", '[project.optional-dependencies]\nnew = ["rich"]'
    )
    (app / "pyproject.toml").write_text(f'{text}\n[dependency-groups]\nfresh = ["rich"]\n')
    for source in (
        ProjectSource(directory=str(app), extras=("new",)),
        ProjectSource(directory=str(app), groups=("fresh",)),
    ):
        with pytest.raises(StaleLock, match="uv lock --project"):
            reading.read(spec(source), str(app), targets.linux(), {})


def test_absent_files_are_inputs_too(app: Path) -> None:
    found = reading.inputs(spec(ProjectSource(directory=str(app))), str(app))
    assert {str(app / name) for name in ("uv.lock", "pyproject.toml", "uv.toml")} <= set(found)
    nowhere = spec(ProjectSource(directory=str(app / "nowhere")))
    assert str(app / "nowhere/uv.lock") in reading.inputs(nowhere, str(app))


def test_inputs_at_fault_are_inputs_all_the_same(app: Path) -> None:
    (app / "uv.lock").write_text("[[[")
    assert str(app / "uv.lock") in reading.inputs(spec(ProjectSource(directory=str(app))), str(app))
    (app / "r.txt").write_text("-r gone.txt\n")
    source = RequirementsSource(requirements=(str(app / "r.txt"),), config=str(app / "uv.toml"))
    assert reading.inputs(spec(source), str(app), {}) == (
        str(app / "greenroom.lock/pylock.x.toml"),
        str(app / "r.txt"),
        str(app / "uv.toml"),
    )


def test_each_source_says_which_python_it_wants(app: Path) -> None:
    (app / "pylock.toml").write_text('lock-version = "1.0"\nrequires-python = ">=3.12"\n')
    wanted: dict[str | None, Source] = {
        ">=3.11, <3.14": ProjectSource(directory=str(app)),
        ">=3.12": PylockSource(path=str(app / "pylock.toml")),
        None: InlineSource(requirements=("iniconfig",), base=str(app)),
    }
    for request, source in wanted.items():
        assert reading.requires_python(spec(source), str(app)) == request
    assert reading.requires_python(spec(ProjectSource(directory=str(app / "gone"))), str(app)) is None
