"""A first declaration says what is there, can be read at once, and is the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.workspace import write_files

from greenroom import errors
from greenroom.declaration.initial import Proposal, propose, write
from greenroom.declaration.reading import read

if TYPE_CHECKING:
    from greenroom.components import Declaration

DATA = Path(__file__).parents[1] / "data/trainer"
CORPUS = Path(__file__).parents[3] / "shared/corpus/nemo-rl"
PROJECT = """
[project]
name = "App"
version = "0"
[project.optional-dependencies]
a = []
b = []
[tool.uv]
conflicts = [[{ extra = "a" }, { extra = "b" }], [{ package = "other", extra = "a" }, { extra = "b" }]]
[tool.uv.workspace]
members = ["libs/*"]
[tool.uv.sources]
local = { path = "vendored" }
"""


def begun(tmp_path: Path, files: dict[str, str]) -> tuple[Proposal, Declaration]:
    write_files(tmp_path, files)
    proposal = propose(str(tmp_path))
    assert propose(str(tmp_path)) == proposal
    write(proposal, str(tmp_path / "greenroom.toml"))
    return proposal, read(str(tmp_path / "greenroom.toml"), {})


def test_a_projects_extras_become_environments_and_conflicts_are_named(tmp_path: Path) -> None:
    files = {"pyproject.toml": PROJECT, "libs/x/pyproject.toml": "", "vendored/pyproject.toml": ""}
    proposal, found = begun(tmp_path, files)
    assert found.components == ()
    assert '[environments.a]\nextras = ["a"]\n# declared as conflicting with b\n' in proposal.text
    assert proposal.decisions == (
        "environments: one for each extra of App; it has no uv.lock yet: run `uv lock`",
        "kept apart: a, b, which are declared as conflicting",
    )


def test_server_directories_are_discovered_or_named(tmp_path: Path) -> None:
    files = {
        "servers/one/requirements.txt": "",
        "servers/two/pyproject.toml": "",
        "tool/requirements.txt": "",
        "tool/app.py": "",
        "servers/both/requirements.txt": "",
        "servers/both/pyproject.toml": "",
        ".hidden/requirements.txt": "",
        "env/pyvenv.cfg": "",
        "env/x/requirements.txt": "",
        "tests/x/requirements.txt": "",
    }
    proposal, found = begun(tmp_path, files)
    assert {one.name for one in found.components} == {"one", "two", "tool", "both"}
    assert next(one for one in found.components if one.name == "tool").launch.command == ("python", "app.py")
    assert "discover: 2 servers in servers" in proposal.decisions
    assert any("both" in line and "it has a pyproject.toml, too" in line for line in proposal.decisions)


def test_a_literal_registry_is_named_and_others_are_left_out(tmp_path: Path) -> None:
    table = "ACTOR_ENVIRONMENTS = {'x.A': None}\n"
    files = {"app/a.py": table, "app/b.py": table, "app/c.py": "ACTOR_ENVIRONMENTS = make()\n"}
    proposal, found = begun(tmp_path, files)
    assert [one.name for one in found.components] == ["x.A"]
    assert 'registry = "app/a.py"' in proposal.text
    assert '# registry = "app/b.py"' in proposal.text
    assert any("app/b.py" in line for line in proposal.decisions)
    assert any("app/c.py:1: ACTOR_ENVIRONMENTS is no dict" in line for line in proposal.decisions)


def test_plain_requirements_become_an_environment(tmp_path: Path) -> None:
    proposal, _ = begun(tmp_path, {"requirements.txt": "x"})
    assert '[environments.main]\nrequirements = "requirements.txt"\n' in proposal.text


def test_an_empty_directory_gets_the_form(tmp_path: Path) -> None:
    proposal, found = begun(tmp_path, {})
    assert found.components == ()
    assert "nothing was found" in proposal.decisions[0]
    assert '# "package.module.Light" = false' in proposal.text


def test_the_trainers_shape_keeps_its_table(tmp_path: Path) -> None:
    files = {name: (DATA / name).read_text() for name in ("registry.py", "pyproject.toml")}
    proposal, found = begun(tmp_path, files)
    assert len(found.components) == 28
    assert proposal.decisions == ("registry: the literal table of registry.py, 28 actors",)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")
def test_the_real_trainers_project_is_understood(tmp_path: Path) -> None:
    files = {name: (CORPUS / name).read_text() for name in ("pyproject.toml", "uv.lock")}
    proposal, _ = begun(tmp_path, files)
    assert "environments: one for each extra of nemo-rl" in proposal.decisions
    assert sum(line.startswith("kept apart") for line in proposal.decisions) == 12


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_files(tmp_path, {"greenroom.toml": "mine", "b/pyproject.toml": "[tool.greenroom]\n", "c/x": ""})
    proposal = Proposal(text="", decisions=())
    for name in (".", "b"):
        with pytest.raises(errors.DeclarationExists):
            write(proposal, str(tmp_path / name / "greenroom.toml"))
    write(proposal, str(tmp_path / "c/greenroom.toml"))
    assert (tmp_path / "greenroom.toml").read_text() == "mine"
    with pytest.raises(errors.DeclarationNotWritten, match="No such file"):
        write(proposal, str(tmp_path / "d/greenroom.toml"))


def test_a_broken_pyproject_is_said(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": "\n["})
    with pytest.raises(errors.UnreadableDeclaration, match=r"pyproject\.toml:2"):
        propose(str(tmp_path))
