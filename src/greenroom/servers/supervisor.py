"""Run a fleet of servers: the machine's decisions become orders to the guardian, what happens its events.

One thread, one loop, no process of its own but the guardian. Whoever wants to know what goes on is told
by :attr:`Supervisor.changed` and :attr:`Supervisor.heard`; :mod:`control` passes it on to other terminals.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from greenroom.errors import GreenroomError
from greenroom.servers import ports, status
from greenroom.servers.beside import Beside
from greenroom.servers.guarding import Guarding
from greenroom.servers.listeners import Listening
from greenroom.servers.model import (
    Exited,
    Gone,
    Kill,
    Launch,
    Proven,
    Refused,
    Signal,
    Spawned,
    State,
    Tick,
    Watch,
)
from greenroom.servers.readiness import Readiness
from greenroom.servers.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from greenroom.servers.loop import Loop, Timer
    from greenroom.servers.member import Member
    from greenroom.servers.model import Decision, Event
    from greenroom.servers.places import Places
    from greenroom.servers.spec import Spec

__all__ = ["Supervisor"]

_TAKEN = (b"ddress already in use", b"EADDRINUSE")


class Supervisor:
    """The servers of one declaration.

    :param linger: whether to stay when all servers have ended; else :meth:`Loop.stop` is called then.
    :param survive: whether servers outlive this process; they then write to their logs themselves.
    """

    def __init__(self, loop: Loop, places: Places, *, linger: bool, survive: bool = False) -> None:
        self.loop, self._linger, self._survive = loop, linger, survive
        self.roster = Roster(loop, places, self._heard)
        self.fleet = self.roster.fleet
        self.members = self.roster.members
        self.changed: list[Callable[[str], object]] = []
        """Called with a unit's name after its state changed."""
        self.heard: list[Callable[[str], object]] = []
        """Called with a unit's name after output of it came."""
        self._environ: dict[str, str] = {}
        self._running: dict[int, str] = {}
        self._numbers = itertools.count(1)
        self._closing = False
        self._listening = Listening()
        self._clock: Timer | None = None
        self._guarding = Guarding(survive=survive)
        self._beside = Beside(loop, self._guarding)
        loop.watch(self._guarding.fileno(), reading=self._hear)

    def told(self, name: str) -> dict[str, Any]:
        """Return what others are told of a unit."""
        return status.told(self.fleet.units[name], self.members[name], self.loop.now())

    def apply(
        self, specs: Iterable[Spec], environ: Mapping[str, str], *, prune: bool = False
    ) -> dict[str, list[str]]:
        """Run these servers: new ones are started, changed ones restarted, the others left alone.

        :param prune: whether servers that are not among them are stopped and forgotten.
        :returns: names by what is done: ``started``, ``restarted``, ``unchanged``, ``removed``.
        :raises PortTaken: a fixed port is another program's; nothing is changed then.
        """
        self._environ = dict(environ)
        known = dict(self.roster.specs)
        given = {spec.name: spec for spec in specs}
        changed = {name: s for name, s in given.items() if name in known and known[name].digest != s.digest}
        self.roster.take(spec for name, spec in given.items() if name not in known)
        for spec in changed.values():
            self.roster.change(spec)
        gone = [name for name in known if name not in given] if prune else []
        now = self.loop.now()
        rest = [name for name in given if name not in changed]
        units = self.fleet.units
        idle = [unit for unit in self.roster.units(rest) if not units[unit].state.alive]
        started = {units[unit].server for unit in idle}
        self._perform(self.fleet.ask(self.roster.units(changed), "restart", now))
        self._perform(self.fleet.ask(idle, "start", now))
        self.roster.dismiss(gone)
        self._perform(self.fleet.ask(self.roster.units(gone), "stop", now))
        return {
            "started": [name for name in rest if name in started],
            "restarted": list(changed),
            "unchanged": [name for name in rest if name not in started],
            "removed": gone,
        }

    def ask(self, names: Iterable[str], what: str) -> list[str]:
        """Ask servers or single processes to ``start``, ``stop``, ``restart`` or be ``kill``ed.

        :returns: the units that are meant.
        :raises KeyError: there is none of a name.
        """
        units = self.roster.units(names)
        self._perform(self.fleet.ask(units, what, self.loop.now()))
        return units

    def close(self, *, kill: bool = False) -> None:
        """End all servers and then the loop."""
        self._closing = True
        self._perform(self.fleet.ask(list(self.fleet.units), "kill" if kill else "stop", self.loop.now()))
        self._finish()

    def end(self) -> None:
        """Give everything back; the guardian ends what is left."""
        self.loop.forget(self._guarding.fileno())
        self._guarding.close()
        for member in self.members.values():
            member.drain()
            member.close()

    # what happens

    def _hear(self) -> None:
        messages = self._guarding.hear()
        if messages is None:
            self._guardian_lost()
            return
        for message in messages:
            number = message["id"]
            if number in self._beside:
                self._beside.hear(number, message)
            elif number in self._running:
                name, event = self._running[number], self._event(number, message)
                if name in self.members:  # else it was forgotten with its last process
                    self._handle(name, event)

    def _event(self, number: int, message: Mapping[str, Any]) -> Event:
        match message["event"]:
            case "spawned":
                return Spawned(message["pid"])
            case "refused":
                del self._running[number]
                return Refused(f"cannot be started: {message['reason']}")
            case "exited":
                return Exited(message["status"], left=message["left"])
        del self._running[number]
        return Gone()

    def _handle(self, name: str, event: Event) -> None:
        member = self.members[name]
        if isinstance(event, Exited):
            member.drain()
            event = replace(event, again=self._release(name))
            if member.readiness is not None:
                member.readiness.end()
                member.readiness = None
        self._perform(self.fleet.handle(name, event, self.loop.now()))

    def _release(self, name: str) -> bool:
        """Let go the port of a server that could not bind over the socket which holds it.

        :returns: whether that was so; it is to be started again.
        """
        member, unit = self.members[name], self.fleet.units[name]
        if unit.ready_at is not None or member.held is None or unit.state is not State.STARTING:
            return False
        taken = any(sign in line.encode() for line in member.tail(20) for sign in _TAKEN)
        return taken and member.held.release()

    def _tick(self) -> None:
        now = self.loop.now()
        for name, unit in list(self.fleet.units.items()):
            if unit.deadline is not None and now >= unit.deadline:
                readiness = self.members[name].readiness
                self._perform(self.fleet.handle(name, Tick(readiness.problem if readiness else ""), now))
        self._schedule()

    # what is to be done

    def _perform(self, decided: list[tuple[str, Decision]]) -> None:
        while decided:
            name, decision = decided.pop(0)
            member = self.members[name]
            match decision:
                case Launch():
                    decided += self._launch(name, member)
                case Watch():
                    self._watch(name, member)
                case Signal(number):
                    self._guarding.signal(member.number, number)
                case Kill():
                    self._guarding.kill(member.number)
        for name in self.fleet.moved():
            for call in self.changed:
                call(name)
        self._schedule()
        self.roster.sweep()
        self._finish()

    def _launch(self, name: str, member: Member) -> list[tuple[str, Decision]]:
        number = next(self._numbers)
        try:
            values = self.roster.values(member)
            order, opened = member.launch(number, self._environ, values, direct=self._survive)
        except GreenroomError as error:
            return self.fleet.handle(name, Refused(str(error)), self.loop.now())
        self._running[number] = name
        ready = member.service.ready
        if ready is not None and ready.kind == "log":  # what it writes first counts too
            self._watch(name, member)
        try:
            self._guarding.spawn(number, order)
        finally:
            opened.close()
        return []

    def _watch(self, name: str, member: Member) -> None:
        if member.readiness is not None:
            return
        probe = member.service.ready or ports.probe(member.service.host, member.port or 0)
        member.readiness = Readiness(
            self.loop,
            probe,
            self.roster.values(member),
            pid=self.fleet.units[name].pid or 0,
            passed=member.held is not None and member.held.listening is not None,
            listening=self._listening,
            execute=lambda command, timeout, done: self._beside.run(
                next(self._numbers),
                member,
                command,
                member.block(self._environ, self.roster.values(member)),
                timeout=timeout,
                done=done,
            ),
            proven=lambda: self._handle(name, Proven()),
        )

    def _heard(self, name: str) -> None:
        for call in self.heard:
            call(name)

    def _schedule(self) -> None:
        deadline = self.fleet.deadline
        if self._clock is not None and self._clock.when == deadline and self._clock.call is not None:
            return
        if self._clock is not None:
            self._clock.cancel()
        self._clock = None if deadline is None else self.loop.at(deadline, self._tick)

    def _finish(self) -> None:
        """End the loop when nothing is left to do, after what is being done now."""
        if self._over():
            self.loop.after(0, lambda: self.loop.stop() if self._over() else None)

    def _over(self) -> bool:
        ended = all(unit.state.final for unit in self.fleet.units.values())
        return ended and (self._closing or not self._linger)

    def _guardian_lost(self) -> None:
        """End the servers that a guardian which was killed itself left to this process."""
        self.loop.forget(self._guarding.fileno())
        self._guarding.replace_dead()
        now = self.loop.now()
        for name in list(self.fleet.units):
            for event in (Exited(-9), Gone()):
                self.fleet.handle(name, event, now)
        self.loop.stop()
