"""What others are told of a server's process: data for JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from greenroom.servers import machine
from greenroom.servers.model import State

if TYPE_CHECKING:
    from greenroom.servers.member import Member
    from greenroom.servers.model import Unit

__all__ = ["told"]


def told(unit: Unit, member: Member, now: float) -> dict[str, Any]:
    """Return the state of a process.

    :param now: the time by the clock that the unit's times are of.
    """
    ready = unit.ready_at is not None and unit.started_at is not None
    return {
        "name": unit.name,
        "server": unit.server,
        "state": str(unit.state),
        "pid": unit.pid,
        "port": member.port,
        "url": member.url,
        "since": None if unit.started_at is None else round(time.time() - (now - unit.started_at), 3),
        "ready_after": round((unit.ready_at or 0) - (unit.started_at or 0), 3) if ready else None,
        "restarts": unit.restarts,
        "status": unit.status,
        "ended": None if unit.status is None else machine.ended(unit.status),
        "forced": unit.forced,
        "reason": unit.reason or None,
        "key": member.spec.key,
        "log": member.log.path,
        "tail": list(member.tail()) if unit.state is State.FAILED else [],
    }
