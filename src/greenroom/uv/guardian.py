"""End a process group when the process that started this script is gone.

Run as a script (``python -I -S guardian.py``) as the leader of a process group of its own, with
a pipe as standard input whose only writer is greenroom. Nobody ever writes: the end of the pipe
means that greenroom ended, whatever ended it (SIGKILL and the kernel's out-of-memory killer
included), and then the whole group is killed, this process too. Standard library only.
"""

from __future__ import annotations

import os
import signal

__all__ = ["guard"]


def guard() -> None:
    """Wait for the end of standard input, then kill the own process group."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    guard()
