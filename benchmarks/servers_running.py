"""What it costs to have a hundred servers run: to be ready, to end, to idle, and what they write.

All of them are one tiny HTTP script on the driver's interpreter, so that nothing is built.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frame import AtMost, Comparison, Side, Within, timed
from greenroom.servers import client, places

if TYPE_CHECKING:
    from benchmarks.frame import Benchmark

__all__ = ["BENCHMARKS"]

COUNT = 100
HTTP = """\
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
SLOW = """\
import signal, sys, threading
over = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: over.set())
print("up", flush=True)
over.wait()
over.clear()
over.wait(1)
"""
FLOOD = """\
import os
line = b"x" * 99 + b"\\n"
block = line * 655
for _ in range(int(os.environ["BLOCKS"])): os.write(1, block)
"""
BLOCKS = 16_000
"""Of 65.5 kB: 1.05 GB."""


class _Servers:
    def __init__(self, scratch: Path, table: str, script: str, count: int) -> None:
        self.root = scratch / "app"
        self.root.mkdir()
        (self.root / "server.py").write_text(script, encoding="utf-8")
        names = [f"s{number}" for number in range(count)]
        parts = [f'[servers.{name}]\nenvironment = false\npath = "."\n{table}\n' for name in names]
        (self.root / "greenroom.toml").write_text("".join(parts), encoding="utf-8")
        passed = ("PATH", "LANG")
        self.env = {name: os.environ[name] for name in passed if name in os.environ}
        self.env |= {"HOME": str(scratch / "home"), "GREENROOM_STORE": str(scratch / "store")}
        (scratch / "home").mkdir()
        self.command = str(Path(sys.executable).with_name("greenroom"))

    def run(self, *words: str) -> str:
        return subprocess.run(
            [self.command, *words], cwd=self.root, env=self.env, check=True, capture_output=True, text=True
        ).stdout

    def supervisor(self) -> int:
        return int(json.loads(self.run("ps", "--json"))["data"]["supervisor"])


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def ready(scratch: Path) -> Comparison:
    """Compare ``greenroom up`` until all are ready with plain processes that are polled."""
    table = 'command = ["python", "server.py", "{port}"]\nready = "http://127.0.0.1:{port}/"'
    servers = _Servers(scratch, table, HTTP, COUNT)

    def ours() -> float:
        start = time.perf_counter()
        servers.run("up", "--detach", "--quiet")
        seconds = time.perf_counter() - start
        servers.run("down")
        return seconds

    def plain() -> float:
        start = time.perf_counter()
        ports = [_port() for _ in range(COUNT)]
        words = [sys.executable, str(servers.root / "server.py")]
        running = [
            subprocess.Popen([*words, str(port)], cwd=servers.root, start_new_session=True) for port in ports
        ]
        left = set(ports)
        while left:
            left -= {port for port in left if _answers(port)}
            time.sleep(0.02 if left else 0)
        seconds = time.perf_counter() - start
        for process in running:
            process.terminate()
        for process in running:
            process.wait()
        return seconds

    return Comparison(
        ours=Side(name=f"`greenroom up --detach`, {COUNT} servers", measure=ours),
        other=Side(name=f"{COUNT} × `subprocess`, polled", measure=plain),
        goal=AtMost(1.15),
        rounds=3,
    )


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()


def down(scratch: Path) -> Comparison:
    """Compare ``greenroom down`` of servers that take a second to end with one of them alone."""
    table = 'command = ["python", "server.py"]\nready = { log = "up" }'
    servers = _Servers(scratch, table, SLOW, COUNT)

    def ours() -> float:
        servers.run("up", "--detach", "--quiet")
        return timed(lambda: servers.run("down"))()

    def alone() -> float:
        process = subprocess.Popen(
            [sys.executable, str(servers.root / "server.py")], stdout=subprocess.PIPE, text=True
        )
        if process.stdout is not None:
            process.stdout.readline()
        process.terminate()
        return timed(process.wait)()

    return Comparison(
        ours=Side(name=f"`greenroom down`, {COUNT} servers that take 1 s", measure=ours),
        other=Side(name="one of them alone", measure=alone),
        goal=AtMost(1.3),
        rounds=3,
    )


def _processes(servers: _Servers) -> tuple[int, int]:
    """Return the supervisor and its guardian."""
    pid = servers.supervisor()
    return pid, int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def memory(scratch: Path) -> Comparison:
    """Measure the memory of the supervisor and its guardian with idle servers."""
    servers = _Servers(scratch, 'command = ["python", "server.py", "{port}"]', HTTP, COUNT)

    def measure() -> float:
        servers.run("up", "--detach", "--quiet")
        total = sum(map(_resident, _processes(servers)))
        servers.run("down")
        return total / 1e6

    side = Side(name=f"supervisor and guardian, {COUNT} idle servers", measure=measure)
    return Comparison(ours=side, other=None, goal=Within(60), rounds=1, unit="MB")


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def idle(scratch: Path) -> Comparison:
    """Measure the processor's time of supervisor and guardian while nothing happens."""
    servers = _Servers(scratch, 'command = ["python", "server.py", "{port}"]', HTTP, COUNT)

    def measure() -> float:
        servers.run("up", "--detach", "--quiet")
        processes = _processes(servers)
        before = sum(map(_ticks, processes))
        time.sleep(10)
        spent = sum(map(_ticks, processes)) - before
        servers.run("down")
        return spent / os.sysconf("SC_CLK_TCK") / 10 * 100

    side = Side(name=f"supervisor and guardian, {COUNT} idle servers", measure=measure)
    return Comparison(ours=side, other=None, goal=Within(1), rounds=1, unit="% of a core")


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def log(scratch: Path) -> Comparison:
    """Compare a server's lines through the supervisor with a pipe through ``cat`` into a file."""
    table = f'command = ["python", "server.py"]\nenv = {{ BLOCKS = "{BLOCKS}" }}'
    table += "\nlog = { rotate-size = 2000000000 }"
    servers = _Servers(scratch, table, FLOOD, 1)
    target = scratch / "cat.log"

    def ours() -> float:
        def run() -> None:
            servers.run("up", "--detach", "--quiet")
            servers.run("wait", "--for", "ended")

        seconds = timed(run)()
        unit = json.loads(servers.run("ps", "--json"))["data"]["units"][0]
        servers.run("down")
        if Path(unit["log"]).stat().st_size != BLOCKS * 65_500:
            message = "something was lost"
            raise RuntimeError(message)
        Path(unit["log"]).unlink()
        return seconds

    def cat() -> float:
        def run() -> None:
            env = {**servers.env, "BLOCKS": str(BLOCKS)}
            words = [sys.executable, str(servers.root / "server.py")]
            with target.open("wb") as out:
                first = subprocess.Popen(words, env=env, stdout=subprocess.PIPE)
                subprocess.run(["cat"], stdin=first.stdout, stdout=out, check=True)
                first.wait()

        seconds = timed(run)()
        target.unlink()
        return seconds

    return Comparison(
        ours=Side(name="1 GB of a server's lines, `up --detach` and `wait`", measure=ours),
        other=Side(name="the same through `cat` into a file", measure=cat),
        goal=AtMost(3),
        rounds=3,
    )


def crash(scratch: Path) -> Comparison:
    """Measure how long after a server was killed its state is told to who listens."""
    servers = _Servers(scratch, 'command = ["python", "server.py", "{port}"]', HTTP, 10)

    def measure() -> float:
        servers.run("up", "--detach", "--quiet")
        connection = client.connect(places.places(str(servers.root / "greenroom.toml"), servers.env))
        if connection is None:
            message = "no supervisor"
            raise RuntimeError(message)
        with connection:
            events = connection.events()
            pid = next(events)["units"][0]["pid"]
            start = time.perf_counter()
            os.kill(pid, signal.SIGKILL)
            while next(events).get("unit", {}).get("state") != "failed":
                pass
            seconds = time.perf_counter() - start
        servers.run("down")
        return seconds

    side = Side(name="a killed server, until its state is told", measure=measure)
    return Comparison(ours=side, other=None, goal=Within(0.1), rounds=3)


BENCHMARKS: dict[str, Benchmark] = {
    "up-ready": ready,
    "up-down": down,
    "up-memory": memory,
    "up-idle": idle,
    "up-log": log,
    "up-crash": crash,
}
"""By name, in the order of the table."""
