"""Who is run: servers by name, their processes, and the ports that are theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.errors import GreenroomError
from greenroom.servers import placeholders, ports
from greenroom.servers.fleet import Fleet
from greenroom.servers.member import Member, rules
from greenroom.servers.model import Unit
from greenroom.servers.spec import Spec, unit_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from greenroom.servers.loop import Loop
    from greenroom.servers.places import Places

__all__ = ["Roster"]


class Roster:
    """The servers of one supervisor.

    :param heard: called with a unit's name after output of it came.
    """

    def __init__(self, loop: Loop, places: Places, heard: Callable[[str], object]) -> None:
        self._loop, self._places, self._heard = loop, places, heard
        self.specs: dict[str, Spec] = {}
        self.members: dict[str, Member] = {}
        self.fleet = Fleet()
        self._leaving: set[str] = set()

    def units(self, names: Iterable[str]) -> list[str]:
        """Return the processes of some servers; a name may be a single process's.

        :raises KeyError: there is none of a name.
        """
        found = []
        for name in names:
            mine = [name] if name in self.fleet.units else []
            mine = mine or [unit for unit, each in self.fleet.units.items() if each.server == name]
            if not mine:
                raise KeyError(name)
            found += mine
        return found

    def take(self, specs: Iterable[Spec]) -> None:
        """Take new servers in; all of their ports first: one that is taken takes none in.

        :raises PortTaken: a fixed port is another program's.
        """
        made: list[tuple[Spec, list[Member]]] = []
        try:
            for spec in specs:
                made.append((spec, self._make(spec)))  # noqa: PERF401 - what was made is given back on an error
        except GreenroomError:
            for _, members in made:
                for member in members:
                    member.close()
            raise
        for spec, members in made:
            self._admit(spec, members)

    def change(self, spec: Spec) -> None:
        """Take a server's new declaration; its processes keep the ports that they have."""
        for name in self.units([spec.name]):
            member = self.members[name]
            member.spec, member.service = spec, spec.service
            probed = spec.service.ready is not None or _by_port(member)
            self.fleet.add(Unit(name=name, server=spec.name, rules=rules(spec.service, probed=probed)))
        self.specs[spec.name] = spec

    def dismiss(self, names: Iterable[str]) -> None:
        """Forget servers as soon as they have ended."""
        self._leaving.update(names)

    def sweep(self) -> None:
        """Forget those that were dismissed and have ended."""
        for server in list(self._leaving):
            units = self.units([server])
            if all(self.fleet.units[unit].state.final for unit in units):
                self._leaving.discard(server)
                del self.specs[server]
                for unit in units:
                    self.members.pop(unit).close()
                    self.fleet.remove(unit)

    def values(self, member: Member) -> dict[str, str]:
        """Return what stands for the placeholders of a process."""
        named = placeholders.references(member.spec.texts())
        found: dict[str, str] = {}
        for name, each in self.members.items() if named else ():
            if each.held is not None:
                for known in {name, each.spec.name} if each.replica == 1 else {name}:
                    found[f"servers.{known}.port"] = str(each.held.port)
                    found[f"servers.{known}.host"] = each.service.host
                    found[f"servers.{known}.url"] = each.url or ""
        return member.values(found)

    def _make(self, spec: Spec) -> list[Member]:
        service = spec.service
        made: list[Member] = []
        shared: ports.Held | None = None
        try:
            for replica, name in enumerate(unit_names(spec.name, service.replicas), 1):
                member = Member(
                    spec,
                    name,
                    replica,
                    loop=self._loop,
                    logs=self._places.logs,
                    heard=lambda _, name=name: self._heard(name),  # type: ignore[misc]
                )
                made.append(member)
                if spec.uses_port and shared is None:
                    member.held = ports.Held(name, service.host, service.port, service.socket)
                    shared = member.held if service.socket == "pass" else None
                elif shared is not None:
                    member.held, member.shared = shared, True
        except GreenroomError:
            for member in made:
                member.close()
            raise
        return made

    def _admit(self, spec: Spec, members: list[Member]) -> None:
        self.specs[spec.name] = spec
        for member in members:
            self.members[member.name] = member
            probed = spec.service.ready is not None or _by_port(member)
            self.fleet.add(Unit(name=member.name, server=spec.name, rules=rules(spec.service, probed=probed)))


def _by_port(member: Member) -> bool:
    """Tell whether a process without a probe is ready when it listens on its port."""
    return member.held is not None and member.held.listening is None
