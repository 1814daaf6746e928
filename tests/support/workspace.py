"""Run the installed command as a user does, with surroundings that the test owns."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Command", "Outcome", "Running", "clean_environment", "script", "write_files"]

DEAD = "http://127.0.0.1:9"
"""A proxy that nobody serves: whatever is not on this machine is unreachable at once."""
PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
DEADLINE = 180.0
"""Seconds after which a hanging command is killed and the test fails."""


def script(name: str) -> str:
    """Return the path of a command that is installed beside this interpreter."""
    return str(Path(sys.executable).with_name(name))


def write_files(directory: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a tree of files, path below ``directory`` to content.

    :returns: ``directory``.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return directory


def clean_environment(directory: Path, *, index_url: str, store: Path, uv_cache: Path) -> dict[str, str]:
    """Return the variables of a user with nothing configured: own home, own index, no other network.

    :param directory: where home and temporary files go.
    """
    home = directory / "home"
    temporary = directory / "temporary"
    home.mkdir(exist_ok=True)
    temporary.mkdir(exist_ok=True)
    passed = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return passed | {
        "HOME": str(home),
        "PATH": PLAIN_PATH,
        "LANG": "C.UTF-8",
        "TMPDIR": str(temporary),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_CONFIG_DIRS": str(home / "nothing"),
        "UV_CACHE_DIR": str(uv_cache),
        "UV_DEFAULT_INDEX": index_url,
        "GREENROOM_STORE": str(store),
        "HTTP_PROXY": DEAD,
        "HTTPS_PROXY": DEAD,
        "ALL_PROXY": DEAD,
        "NO_PROXY": "127.0.0.1,localhost",
    }


def _merged(base: Mapping[str, str], more: Mapping[str, str | None]) -> dict[str, str]:
    merged = {**base, **more}
    return {name: value for name, value in merged.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command did."""

    arguments: tuple[str, ...]
    status: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        return self.stdout.splitlines()

    def json(self) -> Any:
        """Return stdout as JSON.

        :raises AssertionError: it is none; everything is printed.
        """
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            message = f"stdout is not JSON: {error}\n{self}"
            raise AssertionError(message) from error

    def __str__(self) -> str:
        """Return everything, for a failing test."""
        command = " ".join(self.arguments)
        return f"$ {command}\nstatus {self.status}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


class Running:
    """A command that was started and not waited for; its group is its own."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str) -> None:
        self.arguments = tuple(arguments)
        # Files instead of pipes: a process that outlives the command cannot keep the test waiting.
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _collect
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _collect
        with tempfile.TemporaryFile() as given:
            given.write(stdin.encode())
            given.seek(0)
            self._process = subprocess.Popen(
                self.arguments,
                cwd=cwd,
                env=dict(env),
                stdin=given,
                stdout=self._stdout,
                stderr=self._stderr,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._outcome: Outcome | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command alone."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def interrupt(self) -> None:
        """Send SIGINT to the command's group, as Ctrl-C in a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill the command alone, at once: what it started is its own affair."""
        self.send(signal.SIGKILL)

    def wait(self, *, status: int | None = 0, timeout: float = DEADLINE) -> Outcome:
        """Wait for the end and check the exit status.

        :param status: what is expected (minus the number of a signal); None: anything.
        :raises AssertionError: another status, or no end in time; everything is printed.
        """
        if self._outcome is None:
            late = False
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                late = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
                self._process.wait()
            self._outcome = self._collect()
            assert not late, f"did not end within {timeout} s\n{self._outcome}"
        if status is not None:
            assert self._outcome.status == status, f"expected status {status}\n{self._outcome}"
        return self._outcome

    def output(self) -> str:
        """Return what it has written to stdout and stderr so far."""
        return _content(self._stdout) + _content(self._stderr)

    def _collect(self) -> Outcome:
        outcome = Outcome(
            arguments=self.arguments,
            status=self._process.returncode,
            stdout=_content(self._stdout),
            stderr=_content(self._stderr),
        )
        self._stdout.close()
        self._stderr.close()
        return outcome


def _content(stream: IO[bytes]) -> str:
    # pread leaves the offset alone, which the process shares.
    return os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0).decode(errors="replace")


class Command:
    """An installed program with the test's environment and directory: call it, or start it."""

    def __init__(self, program: str, *, cwd: Path, env: Mapping[str, str]) -> None:
        self.program = program
        self.cwd = cwd
        self.env = dict(env)
        self._started: list[Running] = []

    def start(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        prefix: Sequence[str] = (),
        stdin: str = "",
    ) -> Running:
        """Start the program; the fixture's end kills it if nobody waits.

        :param env: variables added to the test's own; None removes one.
        :param prefix: what stands before the program, see :mod:`tests.support.capabilities`.
        """
        running = Running(
            [*prefix, self.program, *map(str, arguments)],
            cwd=cwd or self.cwd,
            env=_merged(self.env, env or {}),
            stdin=stdin,
        )
        self._started.append(running)
        return running

    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        status: int | None = 0,
        prefix: Sequence[str] = (),
        stdin: str = "",
        timeout: float = DEADLINE,
    ) -> Outcome:
        """Run the program to its end.

        :param status: what is expected, None: anything.
        :raises AssertionError: another status; everything is printed.
        """
        running = self.start(*arguments, cwd=cwd, env=env, prefix=prefix, stdin=stdin)
        return running.wait(status=status, timeout=timeout)

    def close(self) -> None:
        """Kill what was started and never waited for."""
        for running in self._started:
            if not running.over:
                running.kill()
            running.wait(status=None)
