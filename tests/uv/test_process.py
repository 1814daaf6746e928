"""uv's processes end with greenroom, whatever ends it."""

from __future__ import annotations

import fcntl
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import distributions, processes, pythons
from tests.support.capabilities import needs_linux
from tests.support.workspace import script

from greenroom.errors import GroupEnded, ProgramNotStarted
from greenroom.uv import commands, settings
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.gate import Gate

UV = script("uv")
SLEEP = (sys.executable, "-I", "-S", "-c", "import time; print('up', flush=True); time.sleep(600)")
RUNNER = """
import sys
from greenroom.uv.process import Group
directory, *arguments = sys.argv[1:]
with Group() as group:
    group.run(arguments, cwd=directory, env={ENV!r}, on_line=lambda line: print(line, flush=True))
"""


def _python(*lines: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", "\n".join(lines))


def _building(
    tmp_path: Path, environ: Mapping[str, str], gate: Gate
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a uv command whose build backend stands at the gate, and its environment."""
    source = tmp_path / "source"
    distributions.write_source(source, "slow", "1.0", gate=gate)
    config = tmp_path / "uv.toml"
    config.write_text(settings.config_text(settings.transport(environ)))
    command = commands.build_wheel(
        str(source), str(tmp_path / "out"), python=pythons.base().path, config=str(config)
    )
    return (UV, *command), settings.variables(environ)


def test_a_process_gives_its_status_and_its_lines(tmp_path: Path) -> None:
    seen: list[str] = []
    program = _python("import sys", "print('out')", "print('err', file=sys.stderr)", "sys.exit(3)")
    with Group() as group:
        outcome = group.run(program, cwd=str(tmp_path), env={}, on_line=seen.append)
    assert (outcome.status, outcome.ok, outcome.late) == (3, False, False)
    assert sorted(seen) == ["err", "out"]
    assert outcome.tail == tuple(seen)


def test_only_errors_are_read_where_that_is_asked_for(tmp_path: Path) -> None:
    program = _python("import sys", "print('out')", "print('err', file=sys.stderr)")
    with Group() as group:
        assert group.run(program, cwd=str(tmp_path), env={}, errors_only=True).tail == ("err",)


def test_a_process_has_the_given_surroundings_and_no_input(tmp_path: Path) -> None:
    program = _python(
        "import os, sys",
        "print(os.getcwd(), os.environ.get('HOME'), os.environ['X'], repr(sys.stdin.read()))",
    )
    with Group() as group:
        outcome = group.run(program, cwd=str(tmp_path), env={"X": "1"})
    assert outcome.tail == (f"{tmp_path} None 1 ''",)


def test_lines_are_handed_over_on_the_calling_thread_while_the_process_runs(tmp_path: Path) -> None:
    read, write = os.pipe()
    program = _python("import os", "print('first', flush=True)", f"os.read({read}, 1)", "print('second')")
    seen: list[tuple[str, int]] = []

    def note(line: str) -> None:
        seen.append((line, threading.get_ident()))
        if line == "first":
            os.write(write, b"x")

    with Group() as group:
        group.run(program, cwd=str(tmp_path), env={}, pass_fds=[read], on_line=note)
    os.close(read)
    os.close(write)
    assert seen == [("first", threading.get_ident()), ("second", threading.get_ident())]


def test_credentials_are_masked_in_lines_and_tail(tmp_path: Path) -> None:
    program = _python("import os", "print(os.environ['UV_INDEX_X_PASSWORD'], 'https://u:pw@h/', 'declared')")
    seen: list[str] = []
    with Group() as group:
        outcome = group.run(
            program,
            cwd=str(tmp_path),
            env={"UV_INDEX_X_PASSWORD": "hunter22"},
            on_line=seen.append,
            secrets=["declared"],
        )
    assert seen == list(outcome.tail) == ["*** https://***@h/ ***"]


def test_megabytes_of_output_pass(tmp_path: Path) -> None:
    program = _python(
        "import sys", "for n in range(100_000): print(n, 'x' * 20)", "sys.stdout.write('y' * 3_000_000)"
    )
    count, width = 0, 0

    def measure(line: str) -> None:
        nonlocal count, width
        count, width = count + 1, width + len(line)

    with Group() as group:
        outcome = group.run(program, cwd=str(tmp_path), env={}, on_line=measure)
    assert outcome.ok
    assert count > 100_000
    assert width > 5_000_000


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with Group() as group, pytest.raises(ProgramNotStarted, match="no-such-program"):
        group.run([str(tmp_path / "no-such-program")], cwd=str(tmp_path), env={})


def test_an_observer_that_raises_ends_the_process(tmp_path: Path) -> None:
    def refuse(line: str) -> None:
        raise LookupError(line)

    with Group() as group, pytest.raises(LookupError, match="up"):
        group.run(SLEEP, cwd=str(tmp_path), env={}, on_line=refuse)
    assert not processes.children()


@needs_linux
def test_a_deadline_ends_the_process_and_its_children(tmp_path: Path) -> None:
    program = _python(
        "import subprocess, sys, time",
        "child = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'])",
        "print(child.pid, flush=True)",
        "time.sleep(600)",
    )
    pids: list[str] = []
    with Group() as group:
        # The deadline is set when the child is there: the first line moves nothing, it only shows it.
        outcome = group.run(
            program, cwd=str(tmp_path), env={}, on_line=pids.append, deadline=time.monotonic() + 3
        )
        assert processes.wait_for(int(pids[0]), 30)
    assert outcome.late
    assert outcome.status == -signal.SIGKILL


def test_a_deadline_that_is_not_reached_changes_nothing(tmp_path: Path) -> None:
    with Group() as group:
        outcome = group.run(_python("pass"), cwd=str(tmp_path), env={}, deadline=time.monotonic() + 600)
    assert outcome.ok
    assert not outcome.late


def test_the_end_counts_even_if_a_daemon_holds_the_output(tmp_path: Path) -> None:
    program = _python(
        "import subprocess, sys",
        "subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'])",
        "print('done')",
    )
    with Group() as group:
        assert group.run(program, cwd=str(tmp_path), env={}).tail == ("done",)
    # Leaving the group ended the daemon: the fixture finds no process.


def test_several_threads_run_processes_in_one_group(tmp_path: Path) -> None:
    lines: queue.SimpleQueue[tuple[int, tuple[str, ...]]] = queue.SimpleQueue()
    program = _python("import os", "print(os.getpgrp())")

    def work(number: int) -> None:
        lines.put((number, group.run(program, cwd=str(tmp_path), env={}).tail))

    with Group() as group:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = dict(lines.get() for _ in range(8))
    assert sorted(found) == list(range(8))
    assert len(set(found.values())) == 1, "one process group for all"
    assert found[0] != (str(os.getpgrp()),), "and it is not the caller's: Ctrl-C is greenroom's to pass on"


def test_ending_the_group_ends_everything_and_refuses_more(tmp_path: Path) -> None:
    started = threading.Event()
    statuses: queue.SimpleQueue[int] = queue.SimpleQueue()

    def work() -> None:
        outcome = group.run(SLEEP, cwd=str(tmp_path), env={}, on_line=lambda _: started.set())
        statuses.put(outcome.status)

    group = Group()
    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(60)
    group.end()
    thread.join()
    assert statuses.get() == -signal.SIGKILL
    with pytest.raises(GroupEnded):
        group.run(SLEEP, cwd=str(tmp_path), env={})
    group.end()
    assert not processes.children()


def test_a_killed_guardian_is_replaced(tmp_path: Path) -> None:
    program = _python("import os, signal", "os.killpg(0, signal.SIGKILL)")
    with Group() as group:
        assert group.run(program, cwd=str(tmp_path), env={}).status == -signal.SIGKILL
        assert group.run(_python("print('again')"), cwd=str(tmp_path), env={}).tail == ("again",)
    assert not processes.children()


def test_an_inherited_lock_is_held_until_the_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    waiting, go = os.pipe()
    taken: list[bool] = []

    def try_to_take(_: str) -> None:
        os.close(lock)
        other = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            taken.append(False)
        else:
            taken.append(True)
        os.close(other)
        os.write(go, b"x")

    code = _python("import os", "print('holding', flush=True)", f"os.read({waiting}, 1)")
    with Group() as group:
        group.run(code, cwd=str(tmp_path), env={}, pass_fds=[lock, waiting], on_line=try_to_take)
        other = os.open(path, os.O_RDWR)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)
    for end in (waiting, go):
        os.close(end)
    assert taken == [False]


@needs_linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_no_process_of_uv_survives_greenroom(
    tmp_path: Path, environ: dict[str, str], gate: Gate, number: signal.Signals
) -> None:
    arguments, env = _building(tmp_path, environ, gate)
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER.replace("{ENV!r}", repr(env)), str(tmp_path), *arguments],
        stdout=subprocess.DEVNULL,
    )
    backend = gate.wait()
    family = _family(runner.pid)
    assert backend in family
    assert any("uv" in name for name in family.values())
    runner.send_signal(number)
    runner.wait()
    for pid in family:
        assert processes.wait_for(pid, 30), f"{family[pid]} survived"


@needs_linux
def test_ending_the_group_ends_a_build_backend(tmp_path: Path, environ: dict[str, str], gate: Gate) -> None:
    arguments, env = _building(tmp_path, environ, gate)
    group = Group()
    thread = threading.Thread(target=group.run, args=(arguments,), kwargs={"cwd": str(tmp_path), "env": env})
    thread.start()
    backend = gate.wait()
    group.end()
    thread.join()
    assert processes.wait_for(backend, 30)


def _family(parent: int) -> dict[int, str]:
    """Return all descendants of a process with their names."""
    found: dict[int, str] = {}
    waiting = [parent]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
            for pid in map(int, (task / "children").read_text().split()):
                found[pid] = Path(f"/proc/{pid}/comm").read_text().strip()
                waiting.append(pid)
    return found
