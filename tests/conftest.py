"""Fixtures: a package index, a project, the installed command, and what every test must leave as it was."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support import processes, pythons
from tests.support.gate import Gate
from tests.support.index import Index, Server
from tests.support.workspace import Command, Outcome, clean_environment, script, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

settings.register_profile("default", max_examples=30, deadline=None)
settings.register_profile(
    "nightly", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("GREENROOM_TEST_PROFILE", "default"))

OWN_FOLDERS = (".local/share/greenroom", ".config/greenroom")
DECIDING = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "CONDA", "GREENROOM_", "XDG_")
TRANSPORT = (
    "SSL_CERT_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_NATIVE_TLS",
)
MACHINE = {name: value for name, value in os.environ.items() if name.startswith(TRANSPORT)}
"""How this machine reaches the public index, read before the tests are sealed off."""
KEPT = ("GREENROOM_TEST_", "PYTHONWARNINGS")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--online``."""
    parser.addoption("--online", action="store_true", help="run the tests that need the public package index")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs the public package index unless it was asked for."""
    if not config.getoption("--online"):
        skip = pytest.mark.skip(reason="needs the public package index: --online")
        for item in items:
            if item.get_closest_marker("online"):
                item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def _sealed_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the test process a home of its own and nothing that is configured on this machine."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(DECIDING) and not name.startswith(KEPT):
                patch.delenv(name)
        for name, folder in (("HOME", "home"), ("TMPDIR", "temporary")):
            (base / folder).mkdir(exist_ok=True)
            patch.setenv(name, str(base / folder))
        patch.setattr(tempfile, "tempdir", str(base / "temporary"))
        processes.adopt_orphans()
        yield


@pytest.fixture(autouse=True)
def _same_surroundings(_sealed_machine: None) -> Iterator[None]:
    """Fail a test that changes the environment or the working directory, or writes to a home."""
    before, directory = dict(os.environ), Path.cwd()
    yield
    after = dict(os.environ)
    for variables in (before, after):
        for name in ("PYTEST_CURRENT_TEST", "RAY_CLIENT_MODE"):  # the latter is set by importing ray
            variables.pop(name, None)
    if after != before:
        os.environ.clear()
        os.environ.update(before)
    assert after == before, "the test changed os.environ"
    changed = Path.cwd() != directory
    os.chdir(directory)
    assert not changed, "the test changed the working directory"
    made = [folder for folder in OWN_FOLDERS if Path.home().joinpath(folder).exists()]
    for folder in made:
        shutil.rmtree(Path.home() / folder)
    assert not made, f"the test wrote outside its folder: {made}"
    left = list(Path(tempfile.gettempdir()).iterdir())
    for path in left:  # or every later test would be blamed too
        path.unlink() if path.is_file() else shutil.rmtree(path)
    assert not left, f"the test left temporary files: {left}"


@pytest.fixture(autouse=True)
def _no_process_left(_same_surroundings: None) -> Iterator[None]:
    """Fail a test that leaves a process; one that is just ending has a moment."""
    before = set(processes.children())
    yield
    stayed = {}
    for pid, command in processes.children().items():
        if pid not in before and not processes.wait_for(pid, 5):
            stayed[pid] = command
            processes.end(pid)
    processes.children()  # reaps those that ended while we waited
    assert not stayed, f"the test left processes: {stayed}"


@pytest.fixture(scope="session")
def index_server() -> Iterator[Server]:
    """Serve package indexes for this test process."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def index(index_server: Server) -> Iterator[Index]:
    """Open an empty package index of the test's own."""
    index = index_server.index()
    yield index
    index.close()


@pytest.fixture
def another_index(index_server: Server) -> Iterator[Index]:
    """Open a second empty package index."""
    index = index_server.index()
    yield index
    index.close()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Open a place where builds stand until the test lets them on."""
    with Gate() as gate:
        yield gate


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return uv's cache for this test process: shared, because the indexes' URLs differ."""
    return tmp_path_factory.getbasetemp() / "uv-cache"


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Return the path of the test's store; nothing is there yet."""
    return tmp_path / "store"


@pytest.fixture
def environ(tmp_path: Path, index: Index, store_path: Path, uv_cache: Path) -> dict[str, str]:
    """Return the variables that commands of this test start with; also for calls that take ``environ``."""
    return clean_environment(tmp_path, index_url=index.url, store=store_path, uv_cache=uv_cache)


@pytest.fixture
def online_environ(environ: dict[str, str]) -> dict[str, str | None]:
    """Return what to add to a command's variables so that it reaches the public index (``env=``)."""
    closed = ("UV_DEFAULT_INDEX", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    return {name: None for name in closed if name in environ} | MACHINE


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write a directory of files: ``project({"greenroom.toml": "..."}, at="app")`` returns its path.

    ``at`` is below the test's folder; files may be added by another call.
    """

    def write(files: Mapping[str, str | bytes], at: str = "app") -> Path:
        return write_files(tmp_path / at, files)

    return write


@pytest.fixture
def app_path(tmp_path: Path) -> Path:
    """Return where ``project`` writes unless told otherwise, and where commands run; it exists."""
    path = tmp_path / "app"
    path.mkdir(exist_ok=True)
    return path


@pytest.fixture
def greenroom(app_path: Path, environ: dict[str, str]) -> Iterator[Command]:
    """Run the installed command: ``greenroom("sync", status=1)``; see :class:`Command`."""
    command = Command(script("greenroom"), cwd=app_path, env=environ)
    yield command
    command.close()


@pytest.fixture
def uv(app_path: Path, environ: dict[str, str]) -> Iterator[Command]:
    """Run the real uv with the test's own surroundings."""
    own_python = Path(pythons.base().path).parent
    more = {"UV_PYTHON_DOWNLOADS": "never", "PATH": f"{own_python}{os.pathsep}{environ['PATH']}"}
    command = Command(script("uv"), cwd=app_path, env=environ | more)
    yield command
    command.close()


@pytest.fixture
def uv_lock(uv: Command) -> Callable[..., Outcome]:
    """Run ``uv lock`` in a project against the test's index: ``uv_lock(path, "--upgrade")``."""

    def lock(directory: Path, *arguments: str) -> Outcome:
        return uv("lock", *arguments, cwd=directory)

    return lock


@pytest.fixture
def public_path() -> Iterator[Path]:
    """Return a short directory that every user can enter (pytest's own is closed to others)."""
    path = Path(tempfile.mkdtemp(prefix="gr-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)
