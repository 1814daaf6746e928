"""Show lines of servers' logs: whose each is, in a colour of its own."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from greenroom.cli import terminal
from greenroom.servers.logreading import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from greenroom.cli.result import Call
    from greenroom.servers.logreading import Line

__all__ = ["Painter"]

_COLOURS = ("36", "33", "32", "35", "34", "96", "93", "92", "95", "94")


class Painter:
    """Writes lines to stdout.

    :param hide: replaces secrets.
    :param plain: whether the names are left out.
    """

    def __init__(
        self, call: Call, hide: Callable[[str], str], *, plain: bool = False, stamp: bool = False
    ) -> None:
        self._call, self._hide, self._plain, self._stamp = call, hide, plain, stamp
        self._colours = terminal.coloured(sys.stdout, call.environ)
        self._kinds: dict[str, str] = {}
        self._width = 0

    def show(self, lines: Iterable[Line]) -> None:
        """Write lines, and let them be seen."""
        for line in lines:
            terminal.write(self._text(line) + "\n")
        sys.stdout.flush()

    def _text(self, line: Line) -> str:
        text = shown(line.data, self._hide, colours=self._colours)
        when = datetime.fromtimestamp(line.time / 1e9, UTC).isoformat(timespec="milliseconds")
        if self._call.json:
            told = {"schema": 1, "command": self._call.command, "event": "log", "time": when}
            return json.dumps({**told, "name": line.unit, "line": text})
        if self._stamp:
            text = f"{when} {text}"
        if self._plain:
            return text
        self._width = max(self._width, len(line.unit))
        name = line.unit.ljust(self._width)
        if self._colours:
            colour = self._kinds.setdefault(line.unit, _COLOURS[len(self._kinds) % len(_COLOURS)])
            return f"\x1b[{colour}m{name} |\x1b[0m {text}"
        return f"{name} | {text}"
