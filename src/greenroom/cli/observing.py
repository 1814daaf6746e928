"""Choose who shows the events of a run: a live display, plain lines, JSON lines, or nobody."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from greenroom.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.builder.events import Event, Observer
    from greenroom.cli.result import Call

__all__ = ["observer"]


@contextmanager
def observer(call: Call) -> Iterator[Observer]:
    """Return what is to be called with each event while a command runs."""
    if call.json:
        from greenroom.cli.jsonlines import observe

        yield lambda event: observe(event, call)
    elif call.quiet:
        yield _ignore
    elif call.progress and not call.verbose and terminal.is_live(call.environ):
        from greenroom.cli.live import Display  # rich: only for a terminal

        with Display(call.environ) as display:
            yield display.observe
    else:
        from greenroom.cli.plain import Lines

        yield Lines(verbose=call.verbose).observe


def _ignore(_: Event) -> None:
    """Take an event and show nothing."""
