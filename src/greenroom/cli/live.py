"""Show a run live on a terminal: a line for each build that runs, what it does and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from greenroom.builder.events import Failed, Note, Output, Phase, Queued, Ready, Started, Waiting
from greenroom.cli.words import few

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from greenroom.builder.events import Event

__all__ = ["Display"]


class Display:
    """A live display on stderr; what has ended stays above it as a line."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._console = Console(stderr=True, no_color=bool(environ.get("NO_COLOR")), highlight=False)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TextColumn("[dim]{task.fields[phase]}", markup=True),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._queued: set[str] = set()

    def __enter__(self) -> Self:
        """Start to show."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the terminal back as it was."""
        self._progress.stop()

    def observe(self, event: Event) -> None:
        """Show what an event says."""
        match event:
            case Queued():
                self._queued.add(event.key)
            case Started() | Waiting() | Phase():
                self._show(event)
            case Output():
                pass
            case Note():
                self._console.print(Text.assemble(("note ", "dim"), event.text))
            case Ready():
                how = f"{event.seconds:.1f} s" if event.built else "by another process"
                self._end(event.key)
                self._console.print(
                    Text.assemble(("✓ ", "green"), few(event.components), (f"  {how}", "dim"))
                )
            case Failed():
                self._end(event.key)
                self._console.print(Text.assemble(("✗ ", "red"), few(event.components)))

    def _show(self, event: Started | Waiting | Phase) -> None:
        task = self._tasks.get(event.key)
        if task is None:
            task = self._progress.add_task(few(event.components), total=None, phase="")
            self._tasks[event.key] = task
        if isinstance(event, Waiting):
            words = f"waiting for {event.holder}"
        else:
            words = f"{event.phase} {event.detail}".rstrip() if isinstance(event, Phase) else "starts"
        self._progress.update(task, phase=words.replace("[", r"\["))

    def _end(self, key: str) -> None:
        self._queued.discard(key)
        task = self._tasks.pop(key, None)
        if task is not None:
            self._progress.remove_task(task)
