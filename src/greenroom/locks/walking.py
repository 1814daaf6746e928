"""Walk ``uv.lock``'s graph from its roots, as ``uv sync --frozen`` does.

Two breadth-first traversals. Conflict markers ask which extras are active anywhere in the graph,
so a first traversal gathers all active extras; then the declared conflicts are checked; the second
one builds the set. Source of the rules: uv's own installation from a lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from greenroom.locks.markers import conflict_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from greenroom.locks.markers import Target
    from greenroom.locks.uvlock import Table, UvLock

    Step = tuple[int, str | None]

__all__ = ["Clash", "Request", "walk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a lock: normal forms, default groups included."""

    roots: tuple[str, ...]
    extras: tuple[str, ...]
    groups: tuple[str, ...]
    """Groups of the roots themselves."""
    root_groups: tuple[str, ...] = ()
    """Groups that count where the workspace's root declares them, itself not being a root here."""


class Clash(Exception):
    """Members of one declared conflict set are active together.

    :param active: the members, as (package, kind, name).
    :param declared: the whole set.
    :param through: in words, how packages that are no root come in.
    """

    def __init__(
        self,
        active: Iterable[tuple[str, str, str]],
        declared: Iterable[tuple[str, str, str]],
        through: Iterable[str],
    ) -> None:
        self.active, self.declared, self.through = tuple(active), tuple(declared), tuple(through)
        super().__init__("conflict")


def walk(lock: UvLock, request: Request, target: Target) -> tuple[int, ...]:
    """Return the positions of the packages that an environment is to contain, in order of discovery.

    :raises Clash: the request activates what the project declares as conflicting.
    :raises AmbiguousLock: the lock contradicts itself.
    :raises ValueError: the lock holds something that is no marker.
    """
    traversal = _Traversal(lock, request, target)
    _check_members(lock, request, traversal)
    if lock.conflicts:
        traversal.gather()
        _check_extras(lock, traversal)
    return traversal.collect()


class _Traversal:
    """The state that both traversals share: what is active, and how it came."""

    def __init__(self, lock: UvLock, request: Request, target: Target) -> None:
        self.lock, self.request, self.target = lock, request, target
        self.roots = [lock.only(name, lock.by_name.get(name, ())) for name in request.roots]
        self.extras: dict[tuple[str, str], Step | None] = {}
        self.active: set[str] = set()
        for root in self.roots:
            self._activate_root(lock.packages[root])

    def _activate_root(self, package: Table) -> None:
        name = package["name"]
        self.active.add(conflict_item(name))
        for extra in self._extras_of(package):
            self.extras[(name, extra)] = None
            self.active.add(conflict_item(name, extra=extra))
        for group in package.get("dev-dependencies", {}):
            if group in self.request.groups:
                self.active.add(conflict_item(name, group=group))

    def _extras_of(self, package: Table) -> list[str]:
        return [extra for extra in package.get("optional-dependencies", {}) if extra in self.request.extras]

    def first(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the roots and their groups' dependencies with their extras; no marker is looked at."""
        for root in self.roots:
            yield self.lock.packages[root]["name"], self._extras_of(self.lock.packages[root])
        yield from ((one["name"], one.get("extra", ())) for one in self._grouped())

    def _grouped(self) -> Iterator[Table]:
        """Yield the dependencies of the groups: the roots' own, then those of the workspace's project."""
        wanted = [(self.lock.packages[root], self.request.groups) for root in self.roots]
        project = self.lock.package(self.lock.project) if self.lock.project else None
        if project is not None and self.lock.project not in self.request.roots:
            wanted.append((project, self.request.root_groups))
        for package, groups in wanted:
            for group, dependencies in package.get("dev-dependencies", {}).items():
                if group in groups:
                    yield from dependencies

    def start(self) -> tuple[deque[Step], set[Step], list[int]]:
        """Return the first steps, what was seen, and the packages that are in already."""
        queue: deque[Step] = deque()
        seen: set[Step] = set()
        packages = list(self.roots)
        for root in self.roots:
            package = self.lock.packages[root]
            queue.append((root, None))
            queue.extend((root, extra) for extra in self._extras_of(package))
        for dependency in self._grouped():
            if self._holds(dependency):
                at = self.lock.find(dependency)
                packages.append(at)
                self._follow(queue, seen, at, dependency.get("extra", ()))
        for dependency in self._manifest():
            at = self._by_markers(dependency["name"])
            packages.append(at)
            self._follow(queue, seen, at, dependency.get("extras", ()))
        return queue, seen, packages

    def _manifest(self) -> Iterator[Table]:
        """Yield the requirements that belong to no package: a script's, or a bare root's groups."""
        manifest = self.lock.manifest
        tables = list(manifest.get("requirements", ()))
        for group, dependencies in manifest.get("dependency-groups", {}).items():
            if group in self.request.root_groups:
                tables.extend(dependencies)
        yield from (table for table in tables if self.target.holds(table.get("marker")))

    def _by_markers(self, name: str) -> int:
        positions = self.lock.by_name.get(name, ())
        forks = {at: self.lock.packages[at].get("resolution-markers", []) for at in positions}
        return self.lock.only(name, [at for at in positions if self._any_holds(forks[at])])

    def _any_holds(self, markers: list[str]) -> bool:
        return not markers or any(self.target.holds(marker, extras=self.active) for marker in markers)

    def _holds(self, dependency: Table, more: Iterable[str] = ()) -> bool:
        marker = dependency.get("marker")
        if not marker:
            return True
        active = self.active.union(more) if more else self.active
        return self.target.holds(marker, extras=active)

    @staticmethod
    def _follow(queue: deque[Step], seen: set[Step], at: int, extras: Iterable[str]) -> None:
        for step in ((at, None), *((at, extra) for extra in extras)):
            if step not in seen:
                seen.add(step)
                queue.append(step)

    def dependencies(self, step: Step) -> list[Table]:
        """Return the dependencies of a package, or of one of its extras."""
        package = self.lock.packages[step[0]]
        if step[1] is None:
            return list(package.get("dependencies", ()))
        return list(package.get("optional-dependencies", {}).get(step[1], ()))

    def gather(self) -> None:
        """Find every active extra, each dependency's own counted while its marker is evaluated."""
        queue, seen, _ = self.start()
        while queue:
            step = queue.popleft()
            for dependency in self.dependencies(step):
                name = dependency["name"]
                new = [e for e in dependency.get("extra", ()) if (name, e) not in self.extras]
                items = [conflict_item(name, extra=extra) for extra in new]
                if not self._holds(dependency, items):
                    continue
                self.extras.update({(name, extra): step for extra in new})
                self.active.update(items)
                self._follow(queue, seen, self.lock.find(dependency), dependency.get("extra", ()))

    def collect(self) -> tuple[int, ...]:
        """Return the packages of the environment."""
        queue, seen, packages = self.start()
        while queue:
            for dependency in self.dependencies(queue.popleft()):
                if self._holds(dependency):
                    at = self.lock.find(dependency)
                    packages.append(at)
                    self._follow(queue, seen, at, dependency.get("extra", ()))
        return tuple(dict.fromkeys(packages))

    def say(self, step: Step) -> str:
        """Return a step in words: ``name`` or ``name[extra]``."""
        name = self.lock.packages[step[0]]["name"]
        return f"{name}[{step[1]}]" if step[1] else name


def _check_members(lock: UvLock, request: Request, traversal: _Traversal) -> None:
    """Check the request against the conflicts of every member that it reaches, as uv does.

    What is asked for counts for each workspace member in reach, whether or not the graph activates
    it there; markers are not looked at.
    """
    if not lock.conflicts:
        return
    reached = _members_in_reach(lock, traversal)
    for declared in lock.conflicts:
        active = [item for item in declared if item[0] in reached and _asked(item, request)]
        if len(active) > 1:
            words = {package: reached[package] for package, _, _ in active if reached[package] is not None}
            through = [
                f"{package} comes through {traversal.say(step)}" for package, step in words.items() if step
            ]
            raise Clash(active, declared, through)


def _asked(item: tuple[str, str, str], request: Request) -> bool:
    _, kind, name = item
    return kind == "project" or name in (request.extras if kind == "extra" else request.groups)


def _members_in_reach(lock: UvLock, traversal: _Traversal) -> dict[str, Step | None]:
    """Return the members that the request can reach, each with the step that first led to it."""
    reached: dict[str, Step | None] = dict.fromkeys(traversal.request.roots)
    queue: deque[Step] = deque()
    origin: dict[Step, Step | None] = {}

    def follow(name: str, extras: Iterable[str], step: Step | None) -> None:
        for at in lock.by_name.get(name, ())[-1:]:
            fresh = [(at, extra) for extra in (None, *extras) if (at, extra) not in origin]
            origin.update(dict.fromkeys(fresh, step))
            queue.extend(fresh)

    for name, extras in traversal.first():
        follow(name, extras, None)
    while queue:
        step = queue.popleft()
        name = lock.packages[step[0]]["name"]
        if name in lock.members:
            reached.setdefault(name, origin[step])
        for dependency in traversal.dependencies(step):
            follow(dependency["name"], dependency.get("extra", ()), step)
    return reached


def _check_extras(lock: UvLock, traversal: _Traversal) -> None:
    """Check the extras that the graph activates, whoever asked for them."""
    for declared in lock.conflicts:
        active = [item for item in declared if item[1] == "extra" and (item[0], item[2]) in traversal.extras]
        if len(active) > 1:
            through = []
            for package, _, extra in active:
                step = traversal.extras[(package, extra)]
                if step is not None:
                    through.append(f"{package}[{extra}] comes through {traversal.say(step)}")
            raise Clash(active, declared, through)
