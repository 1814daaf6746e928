"""A requirement of the host by relative path is its installed version, except in a checkout."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.components import Host
from greenroom.errors import HostVersionUnknown
from greenroom.locks import host as host_rule
from greenroom.locks import requirements

if TYPE_CHECKING:
    from pathlib import Path

HOST = Host(name="nemo-gym", path="/gym", version="0.7.0")
SPELLINGS = [
    ("-e nemo-gym[dev] @ ../../", "nemo-gym[dev]==0.7.0"),
    ("-e nemo-gym[dev,sandbox] @ ../..", "nemo-gym[dev,sandbox]==0.7.0"),
    ("-e nemo-gym[dev]@../../", "nemo-gym[dev]==0.7.0"),
    ("nemo_gym [a, b] @ ../..", "nemo-gym[a,b]==0.7.0"),
    ("--editable NeMo.Gym @ ../../../gym", "nemo-gym==0.7.0"),
    ("-e nemo-gym @ file:../../", "nemo-gym==0.7.0"),
    ("nemo-gym[dev] @ file:///gym", "nemo-gym[dev]==0.7.0"),
    ("-e ../..[dev]", "nemo-gym[dev]==0.7.0"),
    ("-e ../../", "nemo-gym==0.7.0"),
    ("../.. ; python_version >= '3.9'", "nemo-gym==0.7.0 ; python_version >= '3.9'"),
    ("nemo-gym @ ../.. ; python_version >= '3.9'", 'nemo-gym==0.7.0 ; python_version >= "3.9"'),
]
OTHERS = ["-e ../lib", "-e ../../benchmarks/one", "nemo-gym[dev]==0.6", "nemo-gym @ https://x.example/a.whl"]


def read(text: str, base: str = "/gym/servers/math") -> requirements.RequirementSet:
    return requirements.read_lines(text.splitlines(), {}, base=base, where="here")


@pytest.mark.parametrize(("line", "expected"), SPELLINGS)
def test_every_spelling_becomes_the_version_with_its_extras(line: str, expected: str) -> None:
    (entry,) = host_rule.applied(read(line), HOST, {}).lines
    assert (entry.line.text, entry.editable, entry.path, entry.name) == (expected, False, None, "nemo-gym")


@pytest.mark.parametrize("line", OTHERS)
def test_other_requirements_stay_as_they_are(line: str) -> None:
    found = read(line)
    assert host_rule.applied(found, HOST, {}) is found
    assert host_rule.applied(found, None, {}) is found


@pytest.mark.parametrize(("line", "_"), SPELLINGS)
@pytest.mark.parametrize("content", ['[project]\nname = "nemo_gym"\n', "[tool.x]\n"])
def test_in_a_checkout_every_spelling_stays_local(tmp_path: Path, line: str, _: str, content: str) -> None:
    (tmp_path / "gym").mkdir()
    (tmp_path / "gym" / "pyproject.toml").write_text(content)
    found = read(line.replace("/gym", f"{tmp_path}/gym") if "///" in line else line, f"{tmp_path}/gym/s/math")
    assert host_rule.applied(found, Host(name="nemo-gym", path=f"{tmp_path}/gym", version="1"), {}) is found


def test_a_project_of_another_name_at_that_path_is_no_checkout(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    host = Host(name="nemo-gym", path=str(tmp_path), version="0.7.0")
    found = host_rule.applied(read("-e nemo-gym @ ../..", f"{tmp_path}/s/math"), host, {})
    assert found.lines[0].line.text == "nemo-gym==0.7.0"
    assert f"{tmp_path}/pyproject.toml" in found.watched


def installed(prefix: Path, version: str) -> Path:
    metadata = prefix / f"lib/python3.11/site-packages/nemo_gym-{version}.dist-info/METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.touch()
    return metadata


@pytest.mark.parametrize("named", ["GREENROOM_DRIVER", "declared"])
def test_the_version_is_the_one_beside_the_driver_and_is_watched(tmp_path: Path, named: str) -> None:
    metadata = installed(tmp_path / "my [venv]", "0.4.0")
    driver = f"{tmp_path}/my [venv]/bin/python"
    environ = {"GREENROOM_DRIVER": driver} if named != "declared" else {}
    host = Host(name="nemo-gym", path="/gym", driver=None if environ else driver)
    found = host_rule.applied(read("-e nemo-gym[dev] @ ../.."), host, environ)
    assert found.lines[0].line.text == "nemo-gym[dev]==0.4.0"
    assert str(metadata) in found.watched
    metadata.unlink()
    metadata.parent.rmdir()
    installed(tmp_path / "my [venv]", "0.5.0")
    again = host_rule.applied(read("-e nemo-gym[dev] @ ../.."), host, environ)
    assert again.lines[0].line.text == "nemo-gym[dev]==0.5.0"


def test_greenrooms_own_interpreter_is_the_driver_when_none_is_named() -> None:
    from greenroom import __version__

    found = host_rule.applied(read("-e greenroom @ ../.."), Host(name="greenroom", path="/x"), {})
    assert found.lines[0].line.text == f"greenroom=={__version__}"


def test_an_unknown_version_is_said_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(HostVersionUnknown, match=r"here: nemo-gym is not at /gym.*\[host\] version"):
        host_rule.applied(
            read("-e nemo-gym @ ../.."),
            Host(name="nemo-gym", path="/gym", driver=f"{tmp_path}/bin/python"),
            {},
        )


@pytest.mark.parametrize(
    ("version", "text"), [(">=0.4,<1", "nemo-gym>=0.4,<1"), (" 0.7.0rc1 ", "nemo-gym==0.7.0rc1")]
)
def test_a_declared_version_may_be_specifiers(version: str, text: str) -> None:
    host = Host(name="nemo-gym", path="/gym", version=version)
    assert host_rule.applied(read("-e ../.."), host, {}).lines[0].line.text == text


@given(extras=st.lists(st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True), unique=True, max_size=4))
def test_extras_are_carried_over(extras: list[str]) -> None:
    line = f"-e nemo-gym[{' , '.join(extras)}] @ ../.." if extras else "-e nemo-gym @ ../.."
    (entry,) = host_rule.applied(read(line), HOST, {}).lines
    assert set(entry.extras) == set(extras)
    brackets = f"[{','.join(sorted(extras))}]" if extras else ""
    assert entry.line.text == f"nemo-gym{brackets}==0.7.0"


def test_a_local_projects_own_source_of_the_host_counts_likewise(tmp_path: Path) -> None:
    server = tmp_path / "servers" / "math"
    server.mkdir(parents=True)
    sources = '[project]\nname = "m"\n[tool.uv.sources]\nNemo_Gym = { path = "../..", editable = true }\n'
    (server / "pyproject.toml").write_text(sources)
    instead = host_rule.instead_of_source(str(server), HOST, {})
    assert instead is not None
    assert instead.requirement == "nemo-gym==0.7.0"
    assert host_rule.instead_of_source(str(server), None, {}) is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "nemo-gym"\n')
    assert host_rule.instead_of_source(str(server), HOST, {}) is None
    assert host_rule.instead_of_source(os.fspath(tmp_path / "nowhere"), HOST, {}) is None
