"""What goes wrong with servers: strangers, needs, stubborn processes, killed supervisors, full disks."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import processes
from tests.support.serving import Serving, fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

HTTP = 'command = ["python", "web.py", "{port}"]'
SLEEP = 'command = ["python", "-c", "import time; time.sleep(600)"]'


def _gone(pid: int) -> bool:
    """Tell whether a process has ended, or ends within seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    os.close(handle)
    return processes.wait_for(pid, 10)


@contextlib.contextmanager
def stranger() -> Iterator[int]:
    """Listen on a port and answer every request with 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_fixed_port_that_is_a_strangers_is_told_and_nothing_is_started(serving: Serving) -> None:
    with stranger() as port:
        serving.write({"a": HTTP + f"\nport = {port}", "b": HTTP})
        stderr = serving.greenroom("up", "--detach", status=1).stderr
    assert f"port {port} of 127.0.0.1 is another program's" in stderr
    assert all(unit["state"] != "ready" for unit in serving.ps().values())


def test_a_strangers_answer_does_not_make_a_server_ready(serving: Serving) -> None:
    with stranger() as port:
        ready = f'ready = {{ http = "http://127.0.0.1:{port}/", start-period = 1 }}'
        serving.write({"a": f"{SLEEP}\n{ready}"})
        (unit,) = serving.up(status=1)
    assert unit["state"] == "failed"
    assert "it is another process that listens there" in unit["reason"]


def test_a_held_port_is_nobody_elses(serving: Serving) -> None:
    serving.write(
        {"a": 'command = ["python", "-c", "import time; time.sleep(600)", "{port}"]\nready = { log = "x" }'}
    )
    serving.greenroom("up", "--detach", "--no-wait")
    port = serving.ps()["a"]["port"]
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))


def test_a_server_that_cannot_bind_over_the_holder_gets_its_port_all_the_same(serving: Serving) -> None:
    bare = (
        "import socket, sys\n"
        "s = socket.socket(); s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen()\n"
        "while True: s.accept()[0].close()\n"
    )
    serving.write({"a": 'command = ["python", "bare.py", "{port}"]'}, bare=bare)
    (unit,) = serving.up()
    assert unit["state"] == "ready"


def test_needs_on_one_that_failed_are_said_at_once(serving: Serving) -> None:
    serving.write(
        {
            "db": 'command = ["python", "-c", "raise SystemExit(3)"]\nready = { log = "up" }',
            "web": HTTP + '\nneeds = ["db"]',
        }
    )
    units = {unit["name"]: unit for unit in serving.up(status=1)}
    assert units["db"]["reason"] == "ended with status 3 before it was ready"
    assert units["web"]["reason"].startswith("needs db ready: db ended with status 3")


def test_needs_in_a_circle_are_refused(serving: Serving) -> None:
    serving.write({"a": HTTP + '\nneeds = ["b"]', "b": HTTP + '\nneeds = ["a"]'})
    assert "servers need each other: a → b → a" in serving.greenroom("up", status=2).stderr


def test_one_that_never_gets_ready_fails_with_what_its_probe_met(serving: Serving) -> None:
    serving.write(
        {
            "a": SLEEP.replace('"]', '", "{port}"]')
            + '\nready = { tcp = "127.0.0.1:{port}", start-period = 3 }'
        }
    )
    (unit,) = serving.up(status=1)
    assert unit["reason"] == "not ready within 3 s: Connection refused"


def test_the_last_lines_of_the_log_are_in_the_error(serving: Serving) -> None:
    serving.write(
        {"a": """command = ["python", "-c", "raise ValueError('what went wrong')"]\nready = { log = "x" }"""}
    )
    stderr = serving.greenroom("up", "--detach", status=1).stderr
    assert "a: failed: ended with status 1 before it was ready" in stderr
    assert "  | ValueError: what went wrong" in stderr


def test_what_cannot_be_started_says_why(serving: Serving) -> None:
    serving.write({"a": 'command = ["no-such-program"]', "b": 'command = ["./web.py"]'})
    units = {unit["name"]: unit for unit in serving.up(status=1)}
    assert "no program 'no-such-program'" in units["a"]["reason"]
    assert "Permission denied" in units["b"]["reason"]


def test_a_crash_is_restarted_and_given_up(serving: Serving) -> None:
    serving.write(
        {
            "a": 'command = ["python", "-c", "raise SystemExit(7)"]\nready = { log = "x" }\n'
            'restart = { policy = "on-failure", limit = 2, backoff = 0 }'
        }
    )
    (unit,) = serving.up(status=1)
    assert (unit["restarts"], unit["status"]) == (2, 7)
    assert unit["reason"].endswith("given up after 2 restarts")


def test_a_server_that_ignores_term_is_killed_after_its_grace_with_its_children(serving: Serving) -> None:
    trap = 'trap \\"exit 0\\" TERM; (trap \\"\\" TERM; exec sleep 300) & echo $! ; wait'
    serving.write({"a": f'command = ["bash", "-c", "{trap}"]\ngrace = 0.5\nready = {{ log = "[0-9]" }}'})
    serving.up()
    child = int(serving.greenroom("logs", "--plain").lines[0])
    outcome = serving.greenroom("stop", "a", status=1)
    assert "killed after its grace" in outcome.stdout
    assert _gone(child)


def test_grandchildren_with_a_session_of_their_own_end_with_the_server(serving: Serving) -> None:
    fork = (
        "import os, subprocess, sys, time\n"
        "words = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "child = subprocess.Popen(words, start_new_session=True)\n"
        "print('child', child.pid, flush=True)\n"
        "time.sleep(600 if sys.argv[1] == 'stay' else 0)\n"
    )
    ready = 'ready = { log = "child" }'
    serving.write(
        {
            "stays": f'command = ["python", "fork.py", "stay"]\n{ready}',
            "leaves": f'command = ["python", "fork.py", "leave"]\ngrace = 1\n{ready}',
        },
        fork=fork,
    )
    serving.greenroom("up", "--detach", status=None)
    serving.greenroom("wait", "leaves", "--for", "ended", status=None)
    serving.greenroom("stop", "stays")
    children = [int(pid) for pid in re.findall(r"child (\d+)", serving.greenroom("logs").stdout)]
    assert len(children) == 2
    assert all(_gone(child) for child in children)


@pytest.mark.parametrize("when", ["starting", "running", "stopping"])
def test_a_killed_supervisor_takes_its_servers_along(serving: Serving, when: str) -> None:
    stubborn = (
        "import signal, time\nsignal.signal(15, lambda *_: None)\n"
        "print('up', flush=True)\nwhile True: time.sleep(60)\n"
    )
    ready = "never" if when == "starting" else "up"
    serving.write(
        {"a": f'command = ["python", "stubborn.py"]\nready = {{ log = "{ready}" }}'}, stubborn=stubborn
    )
    serving.greenroom("up", "--detach", "--no-wait")
    if when != "starting":
        serving.greenroom("wait")
    stopping = serving.greenroom.start("stop", "a") if when == "stopping" else None
    pid, supervisor = serving.ps()["a"]["pid"], serving.supervisor()
    os.kill(supervisor, signal.SIGKILL)
    assert _gone(pid)
    if stopping is not None:
        stopping.wait(status=None)
    assert serving.ps()["a"]["state"] == "lost"
    assert "running" in serving.greenroom("url", "a", status=3).stderr
    serving.write({"a": HTTP})
    assert serving.up()[0]["state"] == "ready", "the socket that was left does not matter"


def test_a_killed_guardian_leaves_no_server(serving: Serving) -> None:
    serving.write({"a": HTTP})
    pid, supervisor = serving.up()[0]["pid"], serving.supervisor()
    (guardian,) = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    os.kill(int(guardian), signal.SIGKILL)
    assert _gone(pid)
    assert processes.wait_for(supervisor, 10)
    assert serving.ps()["a"]["state"] == "failed"


def test_a_foreground_up_that_is_killed_takes_its_servers_along(serving: Serving) -> None:
    serving.write({"a": HTTP})
    running = serving.greenroom.start("up")
    while serving.greenroom("wait", "--timeout", "20", status=None).status:
        assert not running.over
    pid, supervisor = serving.ps()["a"]["pid"], serving.supervisor()
    running.kill()
    assert _gone(pid)
    assert processes.wait_for(supervisor, 10)


def test_sigterm_ends_a_foreground_up_as_a_containers_init(serving: Serving) -> None:
    serving.write({"a": HTTP})
    running = serving.greenroom.start("up")
    while serving.greenroom("wait", "--timeout", "20", status=None).status:
        assert not running.over
    pid = serving.ps()["a"]["pid"]
    os.kill(running.pid, signal.SIGTERM)
    running.wait(status=0)
    assert _gone(pid)


def test_a_closed_terminal_does_not_end_detached_servers(serving: Serving) -> None:
    serving.write({"a": HTTP})
    serving.up()
    os.kill(serving.supervisor(), signal.SIGHUP)
    assert serving.ps()["a"]["state"] == "ready"


def test_surviving_servers_are_found_and_ended_by_the_next_down(serving: Serving) -> None:
    serving.write({"a": HTTP})
    pid = serving.up("--survive")[0]["pid"]
    supervisor = serving.supervisor()
    os.kill(supervisor, signal.SIGKILL)
    assert processes.wait_for(supervisor, 5)
    unit = serving.ps()["a"]
    assert (unit["state"], unit["pid"]) == ("lost", pid)
    assert "the process lives on" in unit["reason"]
    serving.greenroom("down")
    assert _gone(pid)


def test_a_directory_outside_the_allowed_roots_is_refused_before_anything_is_built(
    serving: Serving, tmp_path: Path
) -> None:
    serving.write({"a": HTTP})
    (tmp_path / "outside").mkdir()
    inside = serving.directory / "srv/a"
    (inside / "web.py").rename(tmp_path / "outside/web.py")
    inside.rmdir()
    inside.symlink_to(tmp_path / "outside")
    roots = {"GREENROOM_ALLOWED_ROOTS": str(serving.directory)}
    assert "outside the allowed roots" in serving.greenroom("up", status=2, env=roots).stderr
    evil = {"GREENROOM_ALLOWED_ROOTS": str(tmp_path / "out")}
    assert "outside the allowed roots" in serving.greenroom("up", status=2, env=evil).stderr
    allowed = {"GREENROOM_ALLOWED_ROOTS": f"/nowhere:{tmp_path}"}
    serving.greenroom("up", "--detach", env=allowed)


def test_a_directory_swapped_after_the_check_is_refused_at_launch(serving: Serving, tmp_path: Path) -> None:
    serving.write({"a": HTTP})
    roots = {"GREENROOM_ALLOWED_ROOTS": str(serving.directory)}
    serving.greenroom("up", "--detach", env=roots)
    (serving.directory / "srv/a").rename(tmp_path / "outside")
    (serving.directory / "srv/a").symlink_to(tmp_path / "outside")
    serving.greenroom("restart", "a", status=1)
    assert "outside the allowed roots" in serving.ps()["a"]["reason"]


def test_a_flood_without_lines_stops_nothing_and_loses_nothing(serving: Serving) -> None:
    flood = (
        "import os\nfor _ in range(400): os.write(1, b'x' * 50_000)\n"
        "os.write(1, b'\\nend\\n')\nos.close(1)\nos.close(2)\n"
    )
    serving.write({"a": 'command = ["python", "flood.py"]', "b": HTTP}, flood=flood)
    serving.up()
    serving.greenroom("wait", "a", "--for", "ended")
    log = Path(serving.ps()["a"]["log"])
    assert log.stat().st_size == 400 * 50_000 + 5
    assert serving.greenroom("logs", "a", "--plain", "-n", "1").lines == ["end"]
    assert serving.ps()["b"]["state"] == "ready"


def test_output_that_is_no_text_cannot_move_the_terminal(serving: Serving) -> None:
    binary = r"import os; os.write(1, b'\x1b[2J\xff\x00a\x1b]0;title\x07\n')"
    serving.write({"a": 'command = ["python", "binary.py"]'}, binary=binary)
    serving.up()
    serving.greenroom("wait", "--for", "ended")
    assert serving.greenroom("logs", "--plain").stdout == "\\x1b[2J\\xff\\x00a\\x1b]0;title\\x07\n"


def test_a_crash_is_known_at_once(serving: Serving) -> None:
    serving.write({"a": HTTP})
    pid = serving.up()[0]["pid"]
    following = serving.greenroom.start("wait", "a", "--for", "ended")
    os.kill(pid, signal.SIGSEGV)
    following.wait(status=0)
    unit = serving.ps()["a"]
    assert (unit["state"], unit["reason"]) == ("failed", "was killed by SIGSEGV")


def test_a_zombie_stays_nowhere(serving: Serving) -> None:
    orphan = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(0.2); os._exit(0)\n"
        "    os._exit(0)\n"
        "print('forked', flush=True); time.sleep(600)\n"
    )
    serving.write({"a": 'command = ["python", "orphan.py"]\nready = { log = "forked" }'}, orphan=orphan)
    pid = serving.up()[0]["pid"]
    supervisor = serving.supervisor()
    (guardian,) = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    end = time.monotonic() + 10
    while len(Path(f"/proc/{guardian}/task/{guardian}/children").read_text().split()) > 1:
        assert time.monotonic() < end, "the adopted orphan was not reaped"
    os.kill(pid, signal.SIGKILL)


def test_servers_inherit_nothing_of_the_callers_environment_or_python(serving: Serving) -> None:
    serving.write({"a": HTTP})
    serving.greenroom(
        "up", "--detach", env={"PYTHONPATH": "/elsewhere", "VIRTUAL_ENV": "/elsewhere", "MINE": "1"}
    )
    told = fetch(serving.url("a"))
    assert "PYTHONPATH" not in told["env"]
    assert told["env"]["MINE"] == "1"
    assert told["env"].get("VIRTUAL_ENV") == sys.prefix == told["prefix"]
    assert told["env"]["PATH"].startswith(f"{sys.prefix}/bin:")
