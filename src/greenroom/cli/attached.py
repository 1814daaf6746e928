"""Be with servers while they run: show what they write and what becomes of them."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any

from greenroom.cli import fleet, terminal
from greenroom.cli.loglines import Painter
from greenroom.cli.style import Style
from greenroom.errors import NotRunning, SupervisorLost
from greenroom.servers import client
from greenroom.servers.logreading import Follower

if TYPE_CHECKING:
    from greenroom.cli.result import Call
    from greenroom.servers.starting import Started

__all__ = ["Attached", "words"]

SETTLED = frozenset({"ready", "stopped", "completed", "failed"})
FINAL = SETTLED - {"ready"}


class Attached:
    """One terminal that started servers, or came to them.

    :param names: the servers that it asked for.
    """

    def __init__(self, call: Call, started: Started, names: set[str]) -> None:
        self._call, self._started, self._names = call, started, names
        self._states: dict[str, dict[str, Any]] = {}
        self._style = Style(call)
        self._interrupts = 0
        self._terminated = False

    def now(self) -> list[dict[str, Any]]:
        """Return the state as it is."""
        with self._started.client as connection:
            return self._mine(connection.ask("status")["units"])

    def until_ready(self) -> tuple[list[dict[str, Any]], int]:
        """Wait until each server is ready or has ended.

        :returns: their states, and the exit status.
        """
        with self._started.client as connection:
            for unit in connection.settle(None, lambda unit: unit["state"] in SETTLED):
                self._note(unit)
        units = self._mine(self._states.values())
        return units, 1 if any(unit["state"] == "failed" for unit in units) else 0

    def follow(self) -> tuple[list[dict[str, Any]], int]:
        """Show everything until the servers have ended, or Ctrl-C.

        :raises SupervisorLost: the supervisor was killed.
        """
        before = signal.signal(signal.SIGTERM, self._terminate)
        painter = Painter(self._call, fleet.hider(self._call))
        followers: dict[str, Follower] = {}
        connection = self._started.client
        try:
            while True:
                try:
                    self._events(connection, painter, followers)
                    break
                except KeyboardInterrupt:
                    again = self._interrupt()
                    if again is None:
                        break
                    connection = again
        finally:
            signal.signal(signal.SIGTERM, before)
        for follower in followers.values():
            painter.show(follower.finish())
        self._started.wait()
        units = self._mine(self._states.values())
        if not self._interrupts and any(unit["state"] not in FINAL for unit in units):
            raise SupervisorLost(
                "the supervisor was killed, its servers with it", fleet.place(self._call).log
            )
        failed = any(unit["state"] == "failed" for unit in units)
        return units, 0 if self._terminated else 130 if self._interrupts else int(failed)

    def _events(self, connection: client.Client, painter: Painter, followers: dict[str, Follower]) -> None:
        for line in connection.events():
            for unit in [line["unit"]] if "unit" in line else line["units"]:
                if isinstance(unit, str):
                    if unit in followers:
                        painter.show(followers[unit].read())
                elif unit["server"] in self._names:
                    if unit["name"] not in followers:
                        followers[unit["name"]] = Follower(unit["name"], unit["log"], self._started.at)
                    painter.show(followers[unit["name"]].read())
                    self._note(unit)

    def _terminate(self, *_: object) -> None:
        self._terminated = True
        raise KeyboardInterrupt

    def _interrupt(self) -> client.Client | None:
        """Stop the servers that this terminal started; leave those of another one alone."""
        self._interrupts += 1
        connection = client.connect(fleet.place(self._call))
        if connection is None:
            return None
        if not self._started.mine:
            terminal.write("detached; the servers go on\n", sys.stderr)
            return None
        try:
            connection.ask("down", kill=self._interrupts > 1)
        except (NotRunning, SupervisorLost):
            return None
        return connection

    def _note(self, unit: dict[str, Any]) -> None:
        known = self._states.get(unit["name"], {})
        self._states[unit["name"]] = unit
        if known.get("state") == unit["state"] or (not known and unit["state"] == "stopped"):
            return
        if self._call.json:
            line = {"schema": 1, "command": "up", "event": "state", **unit}
            terminal.write(json.dumps(line) + "\n")
            sys.stdout.flush()
        elif not self._call.quiet or unit["state"] == "failed":
            terminal.write(f"{words(unit, self._style)}\n", sys.stderr)
            for each in unit["tail"] if self._call.arguments.detach and unit["state"] == "failed" else ():
                terminal.write(f"  | {each}\n", sys.stderr)
            sys.stderr.flush()

    def _mine(self, units: Any) -> list[dict[str, Any]]:
        return [unit for unit in units if unit["server"] in self._names]


def words(unit: dict[str, Any], style: Style) -> str:
    """Return what became of a process, in a line."""
    line = f"{unit['name']}: {style.paint(unit['state'], unit['state'])}"
    if unit["state"] == "ready":
        line += f" after {unit['ready_after']:.1f} s" if unit["ready_after"] else ""
        line += f" at {unit['url']}" if unit["url"] else ""
    elif unit["reason"]:
        line += f": {unit['reason']}"
    elif unit["state"] in FINAL and unit["ended"] and unit["status"]:
        line += f": {unit['ended']}"
    return line
