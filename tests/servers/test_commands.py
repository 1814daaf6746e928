"""Servers through the installed command: up, ps, url, logs, restart, stop, wait, exec, config, down."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import processes
from tests.support.serving import Serving, fetch

if TYPE_CHECKING:
    from tests.support.workspace import Command

HTTP = 'command = ["python", "web.py", "{port}"]'
TWO = {
    "store": HTTP,
    "math": 'command = ["python", "web.py", "{port}", "{servers.store.url}"]\nneeds = ["store"]',
}


def test_servers_come_up_in_order_and_know_each_other(serving: Serving) -> None:
    serving.write(TWO)
    units = {unit["name"]: unit for unit in serving.up()}
    assert {name: unit["state"] for name, unit in units.items()} == {"store": "ready", "math": "ready"}
    assert units["store"]["since"] <= units["math"]["since"]
    told = fetch(serving.url("math"))
    assert told["argv"][1] == serving.url("store")
    assert told["pid"] == units["math"]["pid"]
    assert told["cwd"] == str(serving.directory / "srv/math")


def test_down_leaves_nothing(serving: Serving) -> None:
    serving.write(TWO)
    pids = [unit["pid"] for unit in serving.up()]
    supervisor = serving.supervisor()
    serving.greenroom("down")
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert processes.wait_for(supervisor, 5)
    assert {unit["state"] for unit in serving.ps().values()} == {"stopped"}


def test_a_second_up_touches_only_what_differs(serving: Serving) -> None:
    serving.write(TWO)
    before = {unit["name"]: unit["pid"] for unit in serving.up()}
    assert {unit["name"]: unit["pid"] for unit in serving.up()} == before
    serving.write({**TWO, "math": TWO["math"] + '\nenv = { MODE = "new" }', "more": HTTP})
    after = {unit["name"]: unit["pid"] for unit in serving.up()}
    assert after["store"] == before["store"]
    assert after["math"] != before["math"]
    assert fetch(serving.url("math"))["env"]["MODE"] == "new"
    serving.write({"store": HTTP})
    assert {unit["name"]: unit["pid"] for unit in serving.up()} == {"store": before["store"]}
    assert set(serving.ps()) == {"store"}


def test_only_some_with_what_they_need(serving: Serving) -> None:
    serving.write({**TWO, "more": HTTP + '\ntags = ["late"]'})
    assert {unit["name"] for unit in serving.up("math")} == {"math", "store"}
    assert {unit["name"] for unit in serving.up("--tag", "late")} == {"more"}
    assert set(serving.ps()) == {"math", "store", "more"}


def test_restart_and_stop(serving: Serving) -> None:
    serving.write({"a": HTTP, "b": HTTP})
    before = {unit["name"]: unit for unit in serving.up()}
    serving.greenroom("restart", "a")
    serving.greenroom("stop", "b")
    after = serving.ps()
    assert (after["a"]["state"], after["a"]["restarts"], after["a"]["port"]) == (
        "ready",
        1,
        before["a"]["port"],
    )
    assert after["a"]["pid"] != before["a"]["pid"]
    assert (after["b"]["state"], after["b"]["pid"]) == ("stopped", None)
    assert serving.up("b")[0]["state"] == "ready"


def test_replicas_have_a_port_each_or_share_a_socket(serving: Serving) -> None:
    shared = (
        "import http.server, os, socket, sys\n"
        "class H(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(200); self.end_headers(); self.wfile.write(b'%d' % os.getpid())\n"
        "server = http.server.HTTPServer(('127.0.0.1', 0), H, bind_and_activate=False)\n"
        "server.socket = socket.socket(fileno=int(sys.argv[1]))\n"
        "server.serve_forever()\n"
    )
    command = 'command = ["python", "shared.py", "{fd}"]\nsocket = "pass"\nready = "{url}/"\nreplicas = 2'
    serving.write({"own": HTTP + "\nreplicas = 2", "shared": command}, shared=shared)
    units = {unit["name"]: unit for unit in serving.up()}
    assert units["own.1"]["port"] != units["own.2"]["port"]
    assert units["shared.1"]["port"] == units["shared.2"]["port"]
    assert fetch(serving.url("shared")) in {units["shared.1"]["pid"], units["shared.2"]["pid"]}


def test_logs_are_interleaved_with_names_and_kept(serving: Serving) -> None:
    serving.write(TWO)
    serving.up()
    assert sorted(serving.greenroom("logs").lines) == ["math  | serving", "store | serving"]
    line = json.loads(serving.greenroom("logs", "math", "--json").lines[0])
    assert (line["name"], line["line"]) == ("math", "serving")
    serving.down()
    assert serving.greenroom("logs", "math", "--plain").lines == ["serving"]
    assert serving.greenroom("logs", "--since", "2099-01-01T00:00:00").lines == []


def test_secrets_are_hidden_in_logs_and_left_out_of_config_and_state(serving: Serving) -> None:
    talk = (
        "import os, time\nprint(os.environ['TOKEN_FILE_VALUE'], os.environ['MY_TOKEN'], flush=True)\n"
        "time.sleep(600)\n"
    )
    table = 'command = ["python", "talk.py"]\nenv-file = "vars"\nenv = { MY_TOKEN = "S3CRETVALUE" }'
    serving.write({"a": table}, talk=talk)
    (serving.directory / "vars").write_text("TOKEN_FILE_VALUE=AN0THERSECRET\n")
    serving.up()
    log = Path(serving.ps()["a"]["log"])
    serving.greenroom("wait", "a")
    outcomes = [
        serving.greenroom(*words) for words in (["logs"], ["config"], ["config", "--json"], ["ps", "--json"])
    ]
    for text in [str(outcome) for outcome in outcomes] + [
        log.parent.parent.joinpath("state.json").read_text()
    ]:
        assert "S3CRETVALUE" not in text
        assert "AN0THERSECRET" not in text
    assert (log.stat().st_mode & 0o777, log.parent.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_exec_has_the_servers_variables_and_directory(serving: Serving) -> None:
    serving.write({"a": HTTP + '\nenv = { MODE = "x", HERE = "{url}" }'})
    tell = "import os; print(os.getcwd(), os.environ['MODE'], os.environ['HERE'])"
    serving.up()
    words = serving.greenroom("exec", "a", "--", "python", "-c", tell).stdout.split()
    assert words == [str(serving.directory / "srv/a"), "x", serving.url("a")]


def test_questions_without_a_supervisor(serving: Serving) -> None:
    serving.write({"a": HTTP})
    assert serving.greenroom("ps").stdout == "no servers are running\n"
    for words in (["url", "a"], ["stop", "a"], ["wait"], ["logs"]):
        assert "greenroom up" in serving.greenroom(*words, status=3).stderr
    assert serving.greenroom("down").stdout == "no servers are running\n"


def test_unknown_names_are_told_with_the_nearest(serving: Serving) -> None:
    serving.write({"math": HTTP})
    assert "did you mean 'math'?" in serving.greenroom("up", "mth", status=2).stderr
    serving.write({"math": 'command = ["python", "web.py", "{port}", "{servers.stor.url}"]'})
    assert "no server is named 'stor'" in serving.greenroom("up", status=2).stderr


def test_a_foreground_up_shows_the_logs_and_ctrl_c_stops_all(serving: Serving) -> None:
    serving.write(TWO)
    running = serving.greenroom.start("up")
    serving.greenroom("wait", status=None)
    while serving.greenroom("wait", "--timeout", "20", status=None).status:
        assert not running.over
    os.kill(running.pid, signal.SIGINT)
    outcome = running.wait(status=130)
    assert "math  | serving" in outcome.stdout or "math | serving" in outcome.stdout
    assert "math: ready" in outcome.stderr
    assert {unit["state"] for unit in serving.ps().values()} == {"stopped"}


def test_a_foreground_up_ends_when_all_have_ended(serving: Serving) -> None:
    serving.write({"job": 'command = ["python", "-c", "print(42)"]'})
    outcome = serving.greenroom("up")
    assert "job | 42" in outcome.stdout
    serving.write({"job": 'command = ["python", "-c", "raise SystemExit(4)"]'})
    outcome = serving.greenroom("up", status=1)
    assert "job: failed: ended with status 4" in outcome.stderr


@pytest.mark.parametrize("name", ["ein Dienst", "é", "a/b", "x" * 180, "100%", "'q' $HOME;"])
def test_odd_names(serving: Serving, name: str) -> None:
    serving.write({name: HTTP})
    assert serving.up(name)[0]["state"] == "ready"
    assert fetch(serving.url(name))["cwd"] == str(serving.directory / "srv" / name)
    assert serving.greenroom("logs", name, "--plain").lines == ["serving"]


def test_two_ups_at_once_share_one_supervisor(serving: Serving, greenroom: Command) -> None:
    serving.write(TWO)
    running = [greenroom.start("up", "--detach", "--json") for _ in range(3)]
    outcomes = [each.wait(status=0) for each in running]
    told = [json.loads(outcome.stdout.splitlines()[-1])["data"]["units"] for outcome in outcomes]
    assert len({unit["pid"] for units in told for unit in units}) == 2
