"""End servers whose supervisor is no more."""

from __future__ import annotations

import os
import select
import signal
from typing import TYPE_CHECKING, Any

from greenroom.servers import tree

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["end"]

_GRACE = 10.0


def end(units: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Stop the processes of some units, by SIGTERM and after ten seconds by SIGKILL.

    :param units: as :func:`statefile.orphans` returns them: processes that are certainly theirs.
    :returns: their states after it.
    """
    found = []
    for unit in units:
        pid = int(unit["pid"])
        members = [pid, *tree.descendants(pid)]
        handles = []
        for member in members:
            try:
                handles.append(os.pidfd_open(member))
            except (OSError, AttributeError):
                continue
        for member in members:
            tree.end(member, signal.SIGTERM)
        forced = False
        for handle in handles:
            ended, _, _ = select.select([handle], [], [], _GRACE)
            if not ended:
                forced = True
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        found.append({**unit, "state": "stopped", "pid": None, "forced": forced, "tail": []})
    return found
