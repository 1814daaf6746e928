"""Show a run live on a terminal: a line for each build that runs, what it does and for how long."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from greenroom.builder.events import Failed, Locked, Note, Phase, Queued, Ready, Started, Waiting
from greenroom.cli.words import few
from greenroom.errors import InterruptedRunError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from greenroom.builder.events import Event

__all__ = ["Display"]

_MINUTE = 60


@dataclass(slots=True)
class _Row:
    """A build that runs now."""

    names: str
    doing: str
    since: float
    spinner: Spinner = field(default_factory=lambda: Spinner("dots", style="cyan"))


class Display:
    """A live display on stderr; what has ended stays above it as a line."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._console = Console(stderr=True, no_color=bool(environ.get("NO_COLOR")), highlight=False)
        self._rows: dict[str, _Row] = {}
        self._queued: set[str] = set()
        self._live = Live(
            get_renderable=self._render, console=self._console, refresh_per_second=8, transient=True
        )

    def __enter__(self) -> Self:
        """Start to show."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the terminal back as it was."""
        self._live.stop()

    def observe(self, event: Event) -> None:
        """Show what an event says."""
        match event:
            case Queued():
                self._queued.add(event.key)
            case Started() | Waiting() | Phase():
                self._runs(event)
            case Note():
                self._console.print(Text.assemble(("note  ", "dim"), event.text))
            case Ready():
                self._ends(event.key)
                how = f"{event.seconds:.1f} s" if event.built else "by another process"
                self._say(
                    "✓", "green", event.components, f"built in {how}" if event.built else f"built {how}"
                )
            case Locked():
                self._ends(f"lock {event.components[0]}")
                if event.error is None:
                    self._say("✓", "green", event.components, "locked")
                else:
                    self._say("✗", "red", event.components, "not locked")
            case Failed():
                self._ends(event.key)
                stopped = event.error.status == InterruptedRunError.status
                self._say("✗", "red", event.components, "stopped" if stopped else "failed")
            case _:
                pass

    def _runs(self, event: Started | Waiting | Phase) -> None:
        key = event.key or f"lock {event.components[0]}"
        self._queued.discard(key)
        row = self._rows.setdefault(key, _Row(few(event.components, 2), "", time.monotonic()))
        if isinstance(event, Waiting):
            row.doing = f"waits for {event.holder}"
        else:
            row.doing = event.phase if isinstance(event, Phase) else "starts"

    def _ends(self, key: str) -> None:
        self._queued.discard(key)
        self._rows.pop(key, None)
        self._live.refresh()  # so that no row stands below the line of its own end

    def _say(self, sign: str, colour: str, names: tuple[str, ...], words: str) -> None:
        self._console.print(Text.assemble((f"{sign} ", colour), few(names), (f"  {words}", "dim")))

    def _render(self) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis")
        table.add_column(no_wrap=True, overflow="ellipsis", style="dim")
        table.add_column(no_wrap=True, justify="right", min_width=6)
        most = max(self._console.height - 3, 1)
        for row in list(self._rows.values())[:most]:
            elapsed = Text(_elapsed(time.monotonic() - row.since), style="dim")
            table.add_row(row.spinner, Text(row.names), Text(row.doing), elapsed)
        waiting = len(self._queued) + max(len(self._rows) - most, 0)
        if waiting:
            table.add_row("", Text(f"and {waiting} more", style="dim"), "", "")
        return table


def _elapsed(seconds: float) -> str:
    """Return a duration as short as people read it: ``7 s``, ``2:07``."""
    minutes, rest = divmod(int(seconds), _MINUTE)
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
