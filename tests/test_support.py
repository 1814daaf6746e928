"""The index, the sources and the sandbox are as real as the tests believe."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import distributions, pythons
from tests.support.capabilities import as_nobody, needs_tmpfs, needs_unprivileged_user, on_tmpfs
from tests.support.pythons import needs_python
from tests.support.workspace import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.gate import Gate
    from tests.support.index import Index

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture
def venv(uv: Command, tmp_path: Path) -> Path:
    path = tmp_path / "venv"
    uv("venv", "-q", "-p", pythons.base().path, path)
    return path


@pytest.fixture
def install(uv: Command, venv: Path) -> Callable[..., str]:
    def run(*arguments: str | Path, status: int | None = 0, env: dict[str, str | None] | None = None) -> str:
        python = venv / "bin/python"
        return str(uv("pip", "install", "-p", python, *arguments, status=status, env=env))

    return run


@pytest.fixture
def evaluate(venv: Path, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    python = Command(str(venv / "bin/python"), cwd=tmp_path, env={"PATH": os.defpath})
    yield lambda code: python("-c", code).stdout.strip()
    python.close()


@pytest.mark.parametrize("json", [True, False])
def test_uv_installs_wheels_with_requirements_scripts_and_data(
    index: Index, install: Callable[..., str], evaluate: Callable[[str], str], venv: Path, json: bool
) -> None:
    index.json = json
    index.add_wheel("Low.Er", "1.0", files={"low_er/more.py": "X = 5\n"})
    index.add_wheel(
        "upper",
        "2.0",
        requires=["low-er>=1"],
        scripts={"upper": "upper:__version__.title"},
        data={"scripts/run-it": "#!python\nprint(1)\n", "data/share/x.txt": "x"},
        extras={"more": ["low-er; python_version > '3'"]},
    )
    install("upper[more]")
    assert evaluate("import low_er.more; print(low_er.more.X)") == "5"
    assert (venv / "bin/upper").exists()
    assert (venv / "bin/run-it").exists()
    assert (venv / "share/x.txt").read_text() == "x"
    assert set(index.downloads) == {"low_er-1.0-py3-none-any.whl", "upper-2.0-py3-none-any.whl"}


def test_an_sdist_builds_without_network_and_tells_what_the_build_saw(
    index: Index, install: Callable[..., str], evaluate: Callable[[str], str]
) -> None:
    index.add_sdist("tool", "1.5", reads=["ARCH"], imports=["json"])
    install("tool", env={"ARCH": "90"})
    assert evaluate("import tool._built as b; print(b.VARIABLES)") == "{'ARCH': '90'}"


def test_a_local_source_is_installed_in_place(
    index: Index, install: Callable[..., str], evaluate: Callable[[str], str], tmp_path: Path
) -> None:
    source = distributions.write_source(tmp_path / "lib", "lib", "1.0")
    install("-e", source)
    (source / "src/lib/__init__.py").write_text("__version__ = 'edited'\n")
    assert evaluate("import lib; print(lib.__version__)") == "edited"
    assert index.requests == ()


def test_equal_input_makes_equal_bytes() -> None:
    assert distributions.wheel("a", "1") == distributions.wheel("a", "1")
    assert distributions.sdist("a", "1", requires=["b"]) == distributions.sdist("a", "1", requires=["b"])


def test_a_failing_build_says_its_message(index: Index, install: Callable[..., str]) -> None:
    index.add_sdist("tool", "1", fails="no compiler for qwertz")
    assert "no compiler for qwertz" in install("tool", status=1)


def test_a_build_stands_at_the_gate_until_it_opens(index: Index, uv: Command, venv: Path, gate: Gate) -> None:
    index.add_sdist("tool", "1", gate=gate)
    running = uv.start("pip", "install", "-p", venv / "bin/python", "tool")
    assert gate.wait() > 0
    assert not running.over
    gate.open()
    running.wait()
    assert gate.arrived == 1


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"status": 404}, "404"),
        ({"status": 401}, "401"),
        ({"status": 500}, "500"),
        ({"cut": 100}, "end of file before message length reached"),
    ],
)
def test_a_fault_reaches_the_client(
    index: Index, install: Callable[..., str], what: dict[str, int], words: str
) -> None:
    index.add_wheel("tool", "1")
    fault = index.fault("/files/*.whl", **what)
    said = install("tool", status=None, env={"UV_HTTP_RETRIES": "0"})
    assert words in said
    assert "status 0" not in said
    fault.wait()


def test_a_wrong_hash_is_refused(
    index: Index, uv: Command, uv_lock: Callable[..., object], project: Callable[..., Path]
) -> None:
    index.add_wheel("tool", "1", sha256="0" * 64)
    app = project({"pyproject.toml": '[project]\nname="app"\nversion="0"\ndependencies=["tool"]\n'})
    uv_lock(app)
    outcome = uv("sync", "--frozen", "-p", pythons.base().path, status=1)
    assert "Hash mismatch" in outcome.stderr


def test_a_login_is_asked_for_and_noted(index: Index, install: Callable[..., str]) -> None:
    index.require_login("me", "s3cret")
    index.add_wheel("tool", "1")
    install("tool", status=1)
    install("tool", env={"UV_DEFAULT_INDEX": index.url_with("me", "s3cret")})
    assert "me" in {request.user for request in index.requests}


def test_a_yanked_file_is_left_out(
    index: Index, install: Callable[..., str], evaluate: Callable[[str], str]
) -> None:
    index.add_wheel("tool", "1")
    index.add_wheel("tool", "2", yanked="broken")
    install("tool")
    assert evaluate("import tool; print(tool.__version__)") == "1"


def test_a_hanging_download_is_an_event_and_can_be_let_on(index: Index, uv: Command, venv: Path) -> None:
    index.add_wheel("tool", "1")
    fault = index.fault("/files/*.whl", hang=True)
    running = uv.start("pip", "install", "-p", venv / "bin/python", "tool")
    fault.wait()
    assert not running.over
    index.heal()
    running.wait()


def test_other_networks_are_unreachable(uv: Command, venv: Path) -> None:
    env = {"UV_DEFAULT_INDEX": "http://index.invalid/simple", "UV_HTTP_RETRIES": "0"}
    outcome = uv("pip", "install", "-p", venv / "bin/python", "tool", env=env, status=None)
    assert outcome.status != 0


@pytest.mark.parametrize(
    ("body", "blame"),
    [
        ("subprocess.run(['sh', '-c', 'setsid sleep 50 &'])", "left processes"),
        ("os.environ['X'] = '1'", "changed os.environ"),
        ("tempfile.mkdtemp()", "left temporary files"),
        ("os.chdir('/')", "changed the working directory"),
    ],
)
def test_a_test_that_leaves_something_fails_and_the_next_one_does_not(
    tmp_path: Path, body: str, blame: str
) -> None:
    file = tmp_path / "test_inner.py"
    file.write_text(f"import os, subprocess, tempfile\ndef test_a():\n    {body}\ndef test_b():\n    pass\n")
    inner = Command(sys.executable, cwd=REPOSITORY, env={"PATH": os.defpath, "HOME": str(tmp_path)})
    options = ("-p", "tests.conftest", "-p", "no:cacheprovider", "--noconftest", "-c", os.devnull)
    base = f"--basetemp={tmp_path / 'inner'}"
    outcome = inner("-m", "pytest", *options, base, "--rootdir", tmp_path, file, status=1)
    assert blame in outcome.stdout
    assert "2 passed, 1 error" in outcome.stdout


@needs_tmpfs
def test_a_small_disk_is_full(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    copy = Command("dd", cwd=tmp_path, env={"PATH": os.defpath})
    outcome = copy(
        "if=/dev/zero", f"of={small}/x", "bs=1M", "count=3", prefix=on_tmpfs(small, size="1m"), status=1
    )
    assert "No space left" in outcome.stderr
    assert list(small.iterdir()) == []


@needs_unprivileged_user
def test_another_user_runs(public_path: Path) -> None:
    shutil.copy("/bin/true", public_path / "true")
    Command(str(public_path / "true"), cwd=public_path, env={})(prefix=as_nobody())


@needs_python("3.12", "3.13")
def test_interpreters_are_found_by_version() -> None:
    assert pythons.python("3.12").minor == "3.12"
    assert pythons.python("3.13").minor == "3.13"
