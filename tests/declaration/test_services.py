"""How servers are run: what a table says as frozen data, and what cannot be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.components import LogOptions, Probe, Restart, Service
from greenroom.declaration import reading
from greenroom.errors import Problems
from greenroom.project import services

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SERVERS = """\
[servers.math]
script = "main.py"
command = ["python", "main.py"]
ready = "http://127.0.0.1:{port}/health"
needs = { store = "started", db = "completed" }
restart = { limit = 5, backoff = 2 }
stop-signal = "INT"
grace = 3
replicas = 2
tags = ["rewards"]
log = { directory = "logs", rotate-size = 10, keep = 1 }

[servers.store]
script = "main.py"
host = "::1"
port = 7379
socket = "pass"
ready = { tcp = "[::1]:7379", interval = 0.5, timeout = 2, start-period = 30 }
restart = "always"

[servers.db]
script = "main.py"
needs = ["store"]
ready = { exec = ["python", "-V"] }
"""


def _read(project: Callable[..., Path], text: str) -> dict[str, Service | None]:
    found = project({"greenroom.toml": text, "main.py": "# /// script\n# dependencies = []\n# ///\n"})
    declaration = reading.read(str(found / "greenroom.toml"), {})
    return {component.name: component.service for component in declaration.components}


def test_a_table_says_how_its_server_is_run(project: Callable[..., Path], app_path: Path) -> None:
    found = _read(project, SERVERS)
    assert found["math"] == Service(
        ready=Probe(kind="http", target="http://127.0.0.1:{port}/health"),
        needs=(("store", "started"), ("db", "completed")),
        restart=Restart(policy="on-failure", limit=5, backoff=2),
        stop_signal="SIGINT",
        grace=3,
        replicas=2,
        tags=("rewards",),
        log=LogOptions(directory=str(app_path / "logs"), rotate_size=10, keep=1),
    )
    assert found["store"] == Service(
        host="::1",
        port=7379,
        socket="pass",
        ready=Probe(kind="tcp", target="[::1]:7379", interval=0.5, timeout=2, start_period=30),
        restart=Restart(policy="always"),
    )
    probe = Probe(kind="exec", command=("python", "-V"))
    assert found["db"] == Service(needs=(("store", "ready"),), ready=probe)


def test_an_actor_is_no_service(project: Callable[..., Path]) -> None:
    assert _read(project, '[actors]\n"app.A" = false\n') == {"app.A": None}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('ready = "https://x/"', "is no http:// URL"),
        ('ready = { tcp = "here" }', "is not of the form host:port"),
        ('ready = { log = "(" }', "is no regular expression"),
        (
            'ready = { tcp = "a:1", log = "x" }',
            "a probe is one of http, tcp, log, exec; here are tcp and log",
        ),
        ("ready = { interval = 1 }", "here are none"),
        ('stop-signal = "SIGNOTHING"', "is no signal that a process can obey"),
        ('stop-signal = "KILL"', "is no signal that a process can obey"),
        ("port = 80\nreplicas = 2", "several processes cannot listen on one fixed port"),
    ],
)
def test_what_cannot_be_run_is_refused(project: Callable[..., Path], line: str, said: str) -> None:
    with pytest.raises(Problems) as raised:
        _read(project, f'[servers.s]\nscript = "main.py"\n{line}\n')
    (text,) = raised.value.lines()
    assert said in text
    assert "greenroom.toml:" in text


probes = st.builds(
    Probe,
    kind=st.sampled_from(["http", "tcp", "log"]),
    target=st.text(),
    command=st.just(()),
    interval=st.floats(0, 9),
)
anything = st.builds(
    Service,
    host=st.text(min_size=1),
    port=st.none() | st.integers(1, 65535),
    ready=st.none() | probes,
    needs=st.lists(st.tuples(st.text(), st.sampled_from(["ready", "started"]))).map(tuple),
    restart=st.builds(Restart, limit=st.integers(0, 9)),
    tags=st.lists(st.text()).map(tuple),
    log=st.builds(LogOptions, keep=st.integers(0, 9)),
    replicas=st.integers(1, 3),
)


@given(anything)
def test_what_is_remembered_is_what_was_said(service: Service) -> None:
    import json

    assert services.service(json.loads(json.dumps(services.plain(service)))) == service


def test_defaults_cost_nothing() -> None:
    assert services.plain(Service()) == {}
