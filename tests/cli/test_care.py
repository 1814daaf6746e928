"""What ``verify``, ``gc`` and ``why`` tell whoever looks after environments."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.workspace import Command


def _declare(app: Path, statements: str) -> None:
    file = app / "greenroom.toml"
    text = file.read_text().replace(
        '"app.A" = ["a"]', f'"app.A" = {{ extras = ["a"], smoke = {statements} }}'
    )
    file.write_text(text)


def test_smoke_statements_count_as_they_are_declared_now_and_no_build_is_needed_for_them(
    greenroom: Command, built: Path
) -> None:
    assert "no smoke statement declared" in greenroom("verify", "--smoke").stdout
    _declare(built, '["import tinylib", "import tinylib.nothing"]')
    assert greenroom("status", "app.A").stdout.startswith("ready")
    told = greenroom("verify", "--smoke", "app.A", status=1).stdout
    assert told.startswith("failed")
    assert "import tinylib.nothing: failed after" in told
    assert "No module named 'tinylib.nothing'" in told
    assert "all as proven" in told
    assert "2 smoke statements run" in told


def test_a_failing_smoke_statement_is_no_damage_and_no_repair_calls_it_mended(
    greenroom: Command, built: Path
) -> None:
    _declare(built, '["import nothing"]')
    greenroom("sync")
    told = greenroom("verify", "--smoke", "--repair", "--json", "app.A", status=1).json()["data"]
    (environment,) = told["environments"]
    assert (environment["state"], environment["statements"], environment["repaired"]) == ("ready", 1, None)
    assert [finding["kind"] for finding in environment["findings"]] == ["smoke"]
    greenroom("verify", "app.A")


def test_what_is_not_built_does_not_count_as_verified(greenroom: Command, app: Path) -> None:
    greenroom("sync", "app.A")
    told = greenroom("verify", status=3).stdout
    assert "1 environment verified, all as proven, 1 missing" in told
    del app


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("gone", ["lib", "lib/python3.11/site-packages", "bin"])
def test_an_environment_of_which_whole_folders_are_gone_is_damage_and_repaired(
    greenroom: Command, gone: str
) -> None:
    greenroom("sync", "app.A")
    environment = Path(greenroom("python", "app.A").stdout.strip()).parent.parent
    gone = gone.replace("python3.11", next((environment / "lib").iterdir()).name)
    for folder in (environment, *environment.rglob("*")):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o755)
    shutil.rmtree(environment / gone)
    told = greenroom("verify", "app.A", status=1)
    assert told.stdout.startswith("damaged")
    assert told.stderr == ""
    assert "1 repaired" in greenroom("verify", "--repair", "app.A").stdout
    assert greenroom("run", "app.A", "--", "tiny").stdout == "tiny 2.0.0\n"
