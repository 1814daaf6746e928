"""Kill a piece of work at every one of its steps, one after the other.

A step is a system call that changes something: each child counts them with an audit hook and
sends itself SIGKILL at its number, until one gets to the end.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["killed_at_every_step"]

CHANGING = frozenset(
    {
        "fcntl.flock",
        "os.chmod",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.symlink",
        "os.truncate",
        "shutil.rmtree",
        "subprocess.Popen",
    }
)


def killed_at_every_step(
    act: Callable[[], object], check: Callable[[int], object], *, limit: int = 2000
) -> int:
    """Run ``act`` in children that die at step 1, 2, …, and ``check`` after each, here.

    To be called in a process without threads of its own: it forks.

    :param check: gets the number of the step; raises when an invariant is broken.
    :returns: how many steps ``act`` has.
    """
    for step in range(1, limit):
        child = os.fork()
        if child == 0:
            _work(act, step)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            check(step)
            continue
        assert os.waitstatus_to_exitcode(status) == 0, f"the work failed at step {step}"
        return step - 1
    raise AssertionError(f"more than {limit} steps")


def _work(act: Callable[[], object], step: int) -> None:
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        writes = (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if event in CHANGING or writes:
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)

    status = 1
    try:
        sys.addaudithook(hook)
        act()
        status = 0
    except BaseException:  # noqa: BLE001 - the child of a fork must not go on as the parent
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)
