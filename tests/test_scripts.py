"""The scripts that people and CI call say the truth with their exit status."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.capabilities import needs_command
from tests.support.workspace import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.workspace import Outcome

REPOSITORY = Path(__file__).parent.parent
SCRIPTS = [*sorted(REPOSITORY.glob("scripts/*")), REPOSITORY / ".ci/run"]
CHECKS = ("ruff check", "ruff format --check", "mypy", "lint-imports")


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[Command]:
    command = Command(
        str(shutil.which("bash")), cwd=tmp_path, env={"PATH": os.defpath, "HOME": str(tmp_path)}
    )
    yield command
    command.close()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_well_formed(bash: Command, script: Path) -> None:
    bash("-n", script)
    assert script.name == "setup.sh" or os.access(script, os.X_OK)


@needs_command("shellcheck")
def test_the_scripts_please_shellcheck(bash: Command) -> None:
    bash("-c", 'shellcheck -x "$@"', "sh", *SCRIPTS, cwd=REPOSITORY)


def _stub(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def run_test_script(bash: Command, tmp_path: Path) -> Callable[..., Outcome]:
    """Run ``scripts/test`` in a copy whose tools are stand-ins; one of them may fail."""
    tools = ("ruff", "mypy", "lint-imports", "uv", "python")

    def run(*arguments: str, failing: str = "nothing", status: int = 0) -> Outcome:
        shutil.copytree(REPOSITORY / "scripts", tmp_path / "copy/scripts", dirs_exist_ok=True)
        shutil.copy(REPOSITORY / "pyproject.toml", tmp_path / "copy")
        for tool in tools:
            body = f'case "{tool} $*" in *"{failing}"*) exit 7 ;; esac\necho "ran {tool} $*"'
            _stub(tmp_path / "copy/.venv/bin" / tool, body)
        env = {"PATH": f"{tmp_path / 'copy/.venv/bin'}{os.pathsep}{os.defpath}"}
        return bash("copy/scripts/test", *arguments, env=env, status=status)

    return run


def test_everything_runs_by_default(run_test_script: Callable[..., Outcome]) -> None:
    outcome = run_test_script("tests/store", "-k", "proof")
    for check in CHECKS:
        assert f"ran {check}" in outcome.stdout
    assert re.search(r"^ran python -m pytest .* tests/store -k proof$", outcome.stdout, re.MULTILINE)


@pytest.mark.parametrize("check", CHECKS)
def test_a_failing_check_fails_the_whole_and_is_named(
    run_test_script: Callable[..., Outcome], check: str
) -> None:
    outcome = run_test_script(failing=check, status=1)
    assert f"check failed: {check}" in outcome.stderr
    assert "ran python -m pytest" in outcome.stdout


def test_failing_tests_fail_the_whole(run_test_script: Callable[..., Outcome]) -> None:
    run_test_script(failing="-m pytest", status=7)


def test_a_failing_installation_stops_at_once(run_test_script: Callable[..., Outcome]) -> None:
    outcome = run_test_script(failing="uv pip install", status=7)
    assert "pytest" not in outcome.stdout


def test_a_second_run_installs_nothing(run_test_script: Callable[..., Outcome]) -> None:
    assert "ran uv pip install" in run_test_script().stdout
    assert "ran uv pip install" not in run_test_script().stdout


def test_no_python_is_said_in_one_line(bash: Command, tmp_path: Path) -> None:
    _stub(tmp_path / "bin/python3", "exit 1")
    script = f". {REPOSITORY}/scripts/setup.sh; find_python"
    outcome = bash("-c", script, env={"PATH": str(tmp_path / "bin")}, status=1)
    assert outcome.stderr == "no Python 3.11 or newer found: install one, or name it in PYTHON\n"


def test_the_named_python_is_taken_and_its_base_found(bash: Command) -> None:
    script = f". {REPOSITORY}/scripts/setup.sh; find_python"
    outcome = bash("-c", script, env={"PYTHON": sys.executable})
    assert outcome.stdout.strip() == os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]


def test_pre_commit_makes_the_same_checks() -> None:
    configuration = (REPOSITORY / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"entry: \.venv/bin/(.+)", configuration)
    assert [entry.replace(" --force-exclude", "") for entry in entries] == list(CHECKS)
