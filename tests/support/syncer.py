"""Build pickled jobs in a process of its own, which a test may interrupt or kill.

As a script: ``python syncer.py JOBS STORE [offline] [EVENT:PORT] [die=N]``. Each event is one JSON line on
stdout; the status is 0 when every job ended well, 1 when one failed, 130 after Ctrl-C.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.workspace import Running

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.builder.events import Event, Observer
    from greenroom.builder.work import Job
    from tests.support.gate import Gate

__all__ = ["events_of", "start"]


def start(
    jobs: Sequence[Job],
    store: Path,
    environ: Mapping[str, str],
    *,
    folder: Path,
    prefix: Sequence[str] = (),
    offline: bool = False,
    tells: tuple[str, Gate] | None = None,
    dies_at: int | None = None,
) -> Running:
    """Start a process that builds ``jobs``.

    :param folder: where the pickled jobs go; also its working directory.
    :param prefix: what stands before the program.
    :param dies_at: the number of the step in the store (opened, made, moved or removed file, lock,
        started program) before which the process kills itself.
    :param tells: an event's name, and the gate at which the process arrives when it happens.
    """
    file = folder / f"jobs-{os.urandom(4).hex()}.pickle"
    file.write_bytes(pickle.dumps(list(jobs)))
    arguments = [sys.executable, __file__, str(file), str(store), *(["offline"] if offline else [])]
    arguments += [f"{tells[0]}:{tells[1].port}"] if tells else []
    arguments += [f"die={dies_at}"] if dies_at is not None else []
    return Running([*prefix, *arguments], cwd=folder, env=environ, stdin="")


def events_of(stdout: str) -> list[dict[str, Any]]:
    """Return the events that a process printed: ``{"event": "Ready", "key": ..., ...}``."""
    return [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]


def _printer(tells: str) -> Observer:
    told, _, port = tells.partition(":")

    def show(event: Event) -> None:
        values = {name: getattr(event, name) for name in type(event).__slots__ if name != "at"}
        line = json.dumps({"event": type(event).__name__} | values, default=str)
        print(line, flush=True)  # noqa: T201
        if type(event).__name__ == told:
            with socket.create_connection(("127.0.0.1", int(port))) as connection:
                connection.sendall(f"{os.getpid()}\n".encode())

    return show


STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "subprocess.Popen"}
STEPS |= {"fcntl.flock", "os.symlink"}


def _die_at(number: int, store: str) -> None:
    steps = itertools.count(1)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in STEPS:
            return
        named = event in {"fcntl.flock", "subprocess.Popen"} or store in str(arguments)
        if named and next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _main(file: str, store: str, *options: str) -> int:
    from greenroom.builder import syncing
    from greenroom.store.layout import Store

    for option in options:
        if option.startswith("die="):
            _die_at(int(option.removeprefix("die=")), store)
    jobs = pickle.loads(Path(file).read_bytes())  # noqa: S301 - written by start()
    try:
        results = syncing.sync(
            jobs,
            Store(path=store, writable=True),
            observer=_printer(next((word for word in options if ":" in word), "")),
            environ=os.environ,
            offline="offline" in options,
        )
    except KeyboardInterrupt:
        return 130
    return 0 if all(result.ok for result in results) else 1


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
