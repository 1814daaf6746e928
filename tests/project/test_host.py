"""Servers that require their host by path get its version from an index; in a checkout, the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import distributions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

DECLARATION = """\
[host]
name = "tiny-host"
version = "1.0"

[discover]
servers = ["servers/*"]

[defaults]
extra-requirements = ["extra"]
compile-bytecode = false
"""
SHOW = "import importlib.metadata as m; print(sorted((d.name, d.version) for d in m.distributions()))"


@pytest.fixture
def app(project: Callable[..., Path], index: Index) -> Path:
    for version in ("1.0", "2.0", "3.0a1"):
        index.add_wheel("tiny-host", version, extras={"dev": ["tool"]})
    index.add_wheel("tool", "5")
    index.add_wheel("extra", "7")
    return project(
        {
            "greenroom.toml": DECLARATION,
            "servers/math/requirements.txt": "-e tiny-host[dev] @ ../../\n",
            "servers/plain/requirements.txt": "# -e tiny-host[dev] @ ../..\ntool\n-e ../..\n",
        }
    )


def packages(greenroom: Command, name: str) -> str:
    return greenroom("run", name, "--", "python", "-c", SHOW).stdout.strip()


def test_a_host_from_an_index_is_installed_in_the_drivers_version_with_its_extras(
    greenroom: Command, app: Path
) -> None:
    greenroom("sync")
    expected = "[('extra', '7'), ('tiny-host', '1.0'), ('tool', '5')]"
    assert packages(greenroom, "math") == packages(greenroom, "plain") == expected
    assert greenroom("sync", "--locked").stdout.endswith("ready\n")
    del app


def test_another_version_of_the_host_makes_the_lock_stale(greenroom: Command, app: Path) -> None:
    greenroom("sync")
    (app / "greenroom.toml").write_text(DECLARATION.replace('"1.0"', '"2.0"'))
    assert "requirements.txt changed" in greenroom("sync", "--locked", status=2).stdout
    greenroom("sync")
    assert "('tiny-host', '2.0')" in packages(greenroom, "math")


def test_the_version_follows_the_driver_that_is_named(greenroom: Command, app: Path, tmp_path: Path) -> None:
    (app / "greenroom.toml").write_text(DECLARATION.replace('version = "1.0"\n', ""))
    assert "tiny-host is not at" in greenroom("sync", status=2).stdout
    site = tmp_path / "driver/lib/python3.11/site-packages"
    driver = tmp_path / "driver/bin/python"
    driver.parent.mkdir(parents=True)
    driver.symlink_to(Path(greenroom.program).parent / "python")
    env = {"GREENROOM_DRIVER": str(driver)}
    for version in ("1.0", "2.0"):
        metadata = site / f"tiny_host-{version}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").touch()
        greenroom("sync", env=env)
        shown = greenroom("run", "math", "--", "python", "-c", SHOW, env=env).stdout
        assert f"('tiny-host', '{version}')" in shown
        (metadata / "METADATA").unlink()
        metadata.rmdir()


def test_in_a_checkout_the_local_project_is_installed_editable(
    greenroom: Command, app: Path, index: Index
) -> None:
    distributions.write_source(app, "tiny-host", "9.9", requires=["tool"])
    greenroom("sync", "math")
    assert "('tiny-host', '9.9')" in packages(greenroom, "math")
    module = greenroom("run", "math", "--", "python", "-c", "import tiny_host; print(tiny_host.__file__)")
    assert module.stdout.startswith(str(app))
    del index


def test_a_servers_own_source_of_the_host_gives_way_to_the_index(greenroom: Command, app: Path) -> None:
    server = app / "servers/sourced"
    distributions.write_source(server, "sourced", "1", requires=["tiny-host[dev]"])
    file = server / "pyproject.toml"
    added = '\n[tool.uv.sources]\ntiny-host = { path = "../..", editable = true }\n'
    file.write_text(file.read_text() + added)
    greenroom("sync", "sourced")
    shown = packages(greenroom, "sourced")
    assert "('sourced', '1'), ('tiny-host', '1.0'), ('tool', '5')" in shown
    (app / "greenroom.toml").write_text(DECLARATION.replace('"1.0"', '"2.0"'))
    greenroom("sync", "sourced")
    assert "('tiny-host', '2.0')" in packages(greenroom, "sourced")


def test_pre_releases_are_locked_where_the_declaration_says_so(greenroom: Command, app: Path) -> None:
    (app / "greenroom.toml").write_text(DECLARATION.replace('"1.0"', '">=1.0"'))
    greenroom("sync", "math")
    assert "('tiny-host', '2.0')" in packages(greenroom, "math")
    policy = 'prerelease = "allow"\nindex-strategy = "unsafe-best-match"\n'
    (app / "greenroom.toml").write_text(DECLARATION.replace('"1.0"', '">=1.0"') + policy)
    assert "policy is new" in greenroom("sync", "--locked", "math", status=2).stdout
    greenroom("lock", "math", "--upgrade")
    greenroom("sync", "math")
    assert "('tiny-host', '3.0a1')" in packages(greenroom, "math")


def test_extra_requirements_of_a_locked_source_are_refused_only_where_it_says_them_itself(
    greenroom: Command, app: Path
) -> None:
    lock = {"servers/locked/pyproject.toml": '[project]\nname = "l"\nversion = "1"\n'}
    for name, text in lock.items():
        (app / name).parent.mkdir()
        (app / name).write_text(text)
    (app / "servers/locked/uv.lock").write_text('version = 1\nrequires-python = ">=3.11"\n')
    greenroom("list")
    more = '[servers.locked]\npath = "servers/locked"\nextra-requirements = ["tool"]\n'
    (app / "greenroom.toml").write_text(DECLARATION + more)
    assert "requirements are added, and the source has a lock" in greenroom("list", status=2).stderr
