"""Show events as plain lines on stderr: for logs, pipes and ``--no-progress``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from greenroom.builder.events import Failed, Locked, Note, Output, Phase, Queued, Ready, Started, Waiting
from greenroom.cli import terminal
from greenroom.cli.words import few
from greenroom.errors import InterruptedRunError

if TYPE_CHECKING:
    from greenroom.builder.events import Event

__all__ = ["Lines"]


class Lines:
    """One line for each event that a person wants to know.

    :param verbose: whether phases and the tools' own output are shown too.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._names: dict[str, str] = {}

    def observe(self, event: Event) -> None:
        """Write what an event says, if it says something."""
        line = self._line(event)
        if line is not None:
            terminal.write(line + "\n", sys.stderr)
            sys.stderr.flush()

    def _line(self, event: Event) -> str | None:
        if isinstance(event, Output):
            return f"  [{self._names.get(event.key, event.key)}] {event.line}" if self._verbose else None
        if isinstance(event, Note):
            return f"note: {event.text}"
        if isinstance(event, Locked):
            return f"{few(event.components)}: {'not locked' if event.error else 'locked'}"
        names = self._names[event.key] = few(event.components)
        if isinstance(event, Phase) and not self._verbose:
            return None
        words = _words(event)
        return f"{names}: {words}" if words else None


def _words(event: Queued | Waiting | Started | Phase | Ready | Failed) -> str:
    match event:
        case Queued():
            words = ""
        case Waiting():
            words = f"waiting for {event.what}, held by {event.holder}"
        case Started():
            words = "building"
        case Phase():
            words = f"{event.phase} {event.detail}".rstrip()
        case Ready():
            words = (
                f"ready, built in {event.seconds:.1f} s" if event.built else "ready, built by another process"
            )
        case Failed():
            words = "stopped" if event.error.status == InterruptedRunError.status else "failed"
    return words
