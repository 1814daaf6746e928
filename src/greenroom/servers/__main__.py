"""The supervisor's process: ``python -m greenroom.servers``, told everything on standard input."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from typing import Any

from greenroom.errors import GreenroomError
from greenroom.servers.control import Control
from greenroom.servers.loop import Loop
from greenroom.servers.places import Places
from greenroom.servers.spec import Spec
from greenroom.servers.statefile import StateFile
from greenroom.servers.supervisor import Supervisor

__all__ = ["main"]


def main() -> int:
    """Supervise until all is done.

    The first line of standard input is what to run. Its end means that whoever started this is gone:
    the servers are ended then, unless it was to linger. One line on standard output tells how it began.
    """
    told = json.loads(sys.stdin.buffer.readline())
    places = Places(told["directory"])
    lock = os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        _answer({"busy": True})
        return 1
    loop = Loop()
    supervisor = Supervisor(loop, places, linger=told["linger"], survive=told["survive"])
    control = Control(loop, supervisor, places, told["declaration"])
    state = StateFile(loop, places, control.status)
    supervisor.changed.append(state.touch)
    loop.on_signals((signal.SIGTERM, signal.SIGINT), lambda _: supervisor.close())
    loop.on_hangup()
    try:
        done = supervisor.apply(map(Spec.of, told["specs"]), told["environ"])
    except GreenroomError as error:
        _answer({"error": str(error)})
    else:
        _answer({"done": done})
        if not told["linger"]:
            _watch_starter(loop, supervisor)
        loop.run()
    supervisor.end()
    state.write()
    control.close()
    loop.close()
    return 0


def _watch_starter(loop: Loop, supervisor: Supervisor) -> None:
    def read() -> None:
        if not os.read(0, 4096):
            loop.forget(0)
            supervisor.close()

    loop.watch(0, reading=read)


def _answer(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    sys.exit(main())
