"""All processes together: what needs what, and in which order they are stopped. Pure, as the machine is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from greenroom.servers.machine import step
from greenroom.servers.model import Ask, Needs, State, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.servers.model import Decision, Event

__all__ = ["Fleet", "circle"]

Decided = list[tuple[str, "Decision"]]

_MET = {
    "started": frozenset({State.STARTING, State.READY, State.COMPLETED}),
    "ready": frozenset({State.READY}),
    "completed": frozenset({State.COMPLETED}),
}
_LOST = {
    "started": frozenset({State.FAILED, State.STOPPED}),
    "ready": frozenset({State.FAILED, State.STOPPED, State.COMPLETED}),
    "completed": frozenset({State.FAILED, State.STOPPED}),
}


class Fleet:
    """The units of one supervisor, by name."""

    def __init__(self) -> None:
        self.units: dict[str, Unit] = {}
        self._closing: set[str] = set()
        """Those that are to be stopped when nothing that needs them lives any more."""
        self._moved: dict[str, None] = {}

    def add(self, unit: Unit) -> None:
        """Take a unit in; one of that name keeps its state and gets the new rules."""
        known = self.units.get(unit.name)
        self.units[unit.name] = unit if known is None else replace(known, rules=unit.rules)

    def remove(self, name: str) -> None:
        """Forget a unit that has no processes."""
        del self.units[name]
        self._closing.discard(name)

    def ask(self, names: Iterable[str], what: str, now: float) -> Decided:
        """Ask several units at once, so that those which need one another start and stop in order."""
        asked = list(names)
        found: Decided = []
        if what == "stop":
            self._closing.update(asked)
        else:
            self._closing.difference_update(asked)
            for name in asked:
                found += self._step(name, Ask(what), now)
        return found + self._follow(now)

    def handle(self, name: str, event: Event, now: float) -> Decided:
        """Tell one unit what happened, and the others what follows."""
        return self._step(name, event, now) + self._follow(now)

    def moved(self) -> list[str]:
        """Return the units that changed since this was asked last."""
        found = [name for name in self._moved if name in self.units]
        self._moved.clear()
        return found

    @property
    def deadline(self) -> float | None:
        """When the next tick is wanted."""
        return min((unit.deadline for unit in self.units.values() if unit.deadline is not None), default=None)

    def _step(self, name: str, event: Event, now: float) -> Decided:
        unit, decisions = step(self.units[name], event, now)
        if unit != self.units[name]:
            self.units[name] = unit
            self._moved[name] = None
        return [(name, decision) for decision in decisions]

    def _follow(self, now: float) -> Decided:
        """Settle what waits for others until nothing moves any more."""
        found: Decided = []
        while True:
            moved = [name for name in sorted(self._closing) if not self._needed(name)]
            self._closing.difference_update(moved)
            for name in moved:
                found += self._step(name, Ask("stop"), now)
            for name, unit in self.units.items():
                verdict = self._verdict(unit) if unit.state is State.WAITING else None
                if verdict is not None:
                    found += self._step(name, verdict, now)
                    moved.append(name)
            if not moved:
                return found

    def _needed(self, name: str) -> bool:
        """Tell whether one that needs this unit is to be stopped too, and still lives."""
        server = self.units[name].server
        return any(
            unit.server != server
            and any(server == needed for needed, _ in unit.rules.needs)
            and (unit.state.alive or unit.name in self._closing)
            and (unit.name in self._closing or unit.intent == "stop")
            for unit in self.units.values()
        )

    def _verdict(self, unit: Unit) -> Needs | None:
        for server, condition in unit.rules.needs:
            others = [other for other in self.units.values() if other.server == server]
            lost = [other for other in others if other.state in _LOST[condition]]
            if not others:
                return Needs(met=False, reason=f"needs {server}, which is not run here")
            if lost:
                return Needs(met=False, reason=f"needs {server} {condition}: {_words(lost[0])}")
            if not all(other.state in _MET[condition] for other in others):
                return None
        return Needs(met=True)


def circle(needs: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return servers that need each other in a circle, the first one again at the end; empty: none do."""
    done: set[str] = set()
    for start in needs:
        path: list[str] = []
        stack = [(start, iter(needs.get(start, ())))] if start not in done else []
        path.extend(name for name, _ in stack)
        while stack:
            name, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                done.add(name)
                stack.pop()
                path.pop()
            elif following in path:
                return (*path[path.index(following) :], following)
            elif following not in done:
                stack.append((following, iter(needs.get(following, ()))))
                path.append(following)
    return ()


def _words(unit: Unit) -> str:
    return f"{unit.name} {unit.reason}" if unit.reason else f"{unit.name} is {unit.state}"
