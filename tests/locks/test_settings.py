"""What a source says about its builds is taken; where it is the operator's, it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from greenroom.errors import LockUnreadable, SecretInSource
from greenroom.locks import settings
from greenroom.locks.model import BuildSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from greenroom.locks.uvlock import Table

PYPROJECT = """
[project]
name = "app"
[tool.uv]
no-build-isolation-package = ["Flash_Attn", "deep.ep"]
no-binary-package = ["one"]
no-build = true
build-constraint-dependencies = ["setuptools <70", {requirement = "wheel", hashes = []}]
link-mode = "copy"
[tool.uv.extra-build-dependencies]
flash-attn = ["ninja", {requirement = "torch", match-runtime = true}]
[tool.uv.extra-build-variables]
flash_attn = {MAX_JOBS = "4"}
[tool.uv.config-settings]
editable_mode = "compat"
[tool.uv.config-settings-package]
numpy = {args = ["-a", "-b"]}
[[tool.uv.index]]
url = "https://index.example/simple"
"""


def test_every_setting_that_decides_a_build_is_read(project: Callable[..., Path]) -> None:
    directory = project({"pyproject.toml": PYPROJECT})
    found, files = settings.of_project(str(directory))
    assert found == BuildSettings(
        no_build_isolation=("deep-ep", "flash-attn"),
        extra_build_requires=(("flash-attn", (("ninja", False), ("torch", True))),),
        extra_build_variables=(("flash-attn", (("MAX_JOBS", "4"),)),),
        config_settings=(("editable_mode", '"compat"'),),
        config_settings_package=(("numpy", (("args", '["-a", "-b"]'),)),),
        build_constraints=("setuptools <70", "wheel"),
        no_binary=("one",),
        no_build=(":all:",),
    )
    assert files == (str(directory / "pyproject.toml"), str(directory / "uv.toml"))


def test_a_uv_toml_beside_replaces_the_table(project: Callable[..., Path]) -> None:
    directory = project({"pyproject.toml": PYPROJECT, "uv.toml": "no-build-isolation = true\n"})
    found, _ = settings.of_project(str(directory))
    assert found == BuildSettings(no_build_isolation=(":all:",))


def test_the_pip_section_wins() -> None:
    uv = {"no-binary": True, "pip": {"no-binary": ["One"], "index-url": "https://x"}}
    assert settings.build_settings(uv).no_binary == ("one",)


def test_nothing_declared_is_nothing(tmp_path: Path) -> None:
    assert settings.of_project(str(tmp_path))[0] == BuildSettings()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (None, ("dev",)),
        ({}, ("dev",)),
        ({"tool": {"uv": {"default-groups": []}}}, ()),
        ({"tool": {"uv": {"default-groups": ["Te_st", "dev"]}}}, ("te-st", "dev")),
        ({"tool": {"uv": {"default-groups": "all"}}}, ("a", "b")),
    ],
)
def test_default_groups_are_uvs(table: Table | None, expected: tuple[str, ...]) -> None:
    assert settings.default_groups(table, ("a", "b")) == expected


def test_a_table_is_parsed_again_when_its_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "uv.toml"
    assert settings.table(str(path)) is None
    path.write_text("a = 1\n")
    first = settings.table(str(path))
    assert settings.table(str(path)) is first
    path.write_text("a = 22\n")
    assert settings.table(str(path)) == {"a": 22}


def test_faults_of_the_file_are_said(tmp_path: Path) -> None:
    path = tmp_path / "uv.toml"
    path.write_text("a = \n")
    with pytest.raises(LockUnreadable, match=r"uv\.toml:1"):
        settings.table(str(path))
    path.write_text('url = "https://bob:S3CRETPW@host"\n')
    with pytest.raises(SecretInSource, match=r"uv\.toml:1"):
        settings.table(str(path))
