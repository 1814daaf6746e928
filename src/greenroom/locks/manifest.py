"""Compare what belongs to a whole workspace with what its lock says: members, conflicts, settings."""

from __future__ import annotations

import fnmatch
import os
from glob import glob
from itertools import product, takewhile

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from greenroom.locks import equivalence, projects, settings
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.locks.markers import Tree
    from greenroom.locks.uvlock import Table, UvLock

__all__ = ["differences", "member_folders"]

_OPTIONS = (
    ("resolution-mode", "resolution", "highest"),
    ("prerelease-mode", "prerelease", "if-necessary-or-explicit"),
    ("fork-strategy", "fork-strategy", "requires-python"),
)
"""Key of the lock, key of ``[tool.uv]``, and its default."""
Item = tuple[str, str, str]


def differences(lock: UvLock, root: Table, members: Mapping[str, Table]) -> Iterator[str]:
    """Yield in words what differs.

    :param root: the root's ``pyproject.toml``.
    :param members: that of each member which is here, the root's project included.
    :raises ValueError: a file holds something that is no specifier, marker or requirement.
    """
    complete = all(name in members for name in lock.members)
    uv = settings.section(root, "tool", "uv")
    yield from _members(lock, root)
    yield from _pythons(lock, [root, *members.values()], complete=complete)
    yield from _conflicts(lock, {**members, "": root}, complete=complete)
    for key, stored in (
        ("environments", lock.supported_markers),
        ("required-environments", lock.required_markers),
    ):
        said = uv.get(key, ())
        now = _any([said] if isinstance(said, str) else said)
        if not equivalence.equivalent(now, _any(stored), lock.requires_python):
            yield f"{key} changed"
    yield from _options(lock, uv)
    yield from _metadata(lock, uv)
    yield from _kind(lock, root)


def member_folders(pyproject: Table | None, root: str) -> tuple[str, ...]:
    """Return the folders in which a new member would appear."""
    workspace = settings.section(pyproject, "tool", "uv", "workspace")
    found = []
    for pattern in workspace.get("members", ()):
        parts = os.path.normpath(str(pattern)).split("/")
        fixed = list(takewhile(lambda part: not any(sign in part for sign in "*?["), parts))
        last = () if len(fixed) < len(parts) else ("pyproject.toml",)
        found.append(os.path.normpath(os.path.join(root, *fixed, *last)))
    return tuple(dict.fromkeys(found))


def _members(lock: UvLock, root: Table) -> Iterator[str]:
    workspace = settings.section(root, "tool", "uv", "workspace")
    patterns = [os.path.normpath(str(pattern)) for pattern in workspace.get("members", ())]
    excluded = [os.path.normpath(str(pattern)) for pattern in workspace.get("exclude", ())]
    sources = projects.local_sources(lock)
    places = {
        os.path.normpath(os.path.relpath(sources[name], lock.root)): name
        for name in lock.members
        if name in sources
    }
    for place, name in places.items():
        matched = any(_matches(place, pattern) for pattern in patterns)
        if place != "." and (not matched or any(_matches(place, pattern) for pattern in excluded)):
            yield f"the workspace member {name} is gone"
    known = {os.path.realpath(os.path.join(lock.root, place)) for place in places}
    for pattern in patterns:
        for found in sorted(glob(os.path.join(lock.root, pattern))):
            place = os.path.relpath(found, lock.root)
            new = os.path.realpath(found) not in known and not any(_matches(place, one) for one in excluded)
            if new and os.path.isfile(os.path.join(found, "pyproject.toml")):
                yield f"the workspace member {place} is new"


def _matches(place: str, pattern: str) -> bool:
    parts, patterns = place.split("/"), pattern.split("/")
    if "**" in patterns:
        return fnmatch.fnmatchcase(place, pattern)
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def _pythons(lock: UvLock, tables: Iterable[Table], *, complete: bool) -> Iterator[str]:
    """Compare what the lock is for with what all members together admit."""
    said = [settings.section(table, "project").get("requires-python") for table in tables]
    narrowed = any(settings.section(table, "tool", "uv", "dependency-groups") for table in tables)
    ranges = list(dict.fromkeys(str(one) for one in said if one))
    if not ranges or lock.requires_python is None:
        return
    wanted = [SpecifierSet(one) for one in ranges]
    stored = SpecifierSet(lock.requires_python)
    literals = [one.version for some in (*wanted, stored) for one in some]
    for version in equivalence.versions(literals):
        together = all(one.contains(version, prereleases=True) for one in wanted)
        locked = stored.contains(version, prereleases=True)
        if (locked and not together) or (together and not locked and complete and not narrowed):
            yield f"requires-python {lock.requires_python} → {' and '.join(ranges)}"
            return


def _conflicts(lock: UvLock, tables: Mapping[str, Table], *, complete: bool) -> Iterator[str]:
    now: set[frozenset[Item]] = set()
    for name, table in tables.items():
        including = _including(table)
        for declared in settings.section(table, "tool", "uv").get("conflicts", ()):
            items = [_item(one, name or lock.project or "") for one in declared]
            now.update(frozenset(some) for some in product(*(_widened(one, including) for one in items)))
    then = {frozenset(declared) for declared in lock.conflicts}
    now = {some for some in now if len(some) > 1}
    for some in sorted(map(sorted, now - then)):
        yield f"the conflict of {_say(some)} is new"
    if complete:
        for some in sorted(map(sorted, then - now)):
            yield f"the conflict of {_say(some)} is gone"


def _item(said: Table, package: str) -> Item:
    owner = normalize(str(said.get("package", package)))
    for kind in ("extra", "group"):
        if kind in said:
            return (owner, kind, normalize(str(said[kind])))
    return (owner, "project", "")


def _including(table: Table) -> dict[str, set[str]]:
    """Return for each group the groups that include it, directly or not."""
    groups = settings.section(table, "dependency-groups")
    direct = {
        normalize(name): {normalize(str(line["include-group"])) for line in lines if isinstance(line, dict)}
        for name, lines in groups.items()
    }
    reached = {name: set(inner) for name, inner in direct.items()}
    for _ in direct:
        for inner in reached.values():
            inner.update(*(direct.get(name, set()) for name in tuple(inner)))
    return {name: {outer for outer, inner in reached.items() if name in inner} for name in direct}


def _widened(item: Item, including: Mapping[str, set[str]]) -> list[Item]:
    """Return an item with the groups that include it: with those, it is active too."""
    package, kind, name = item
    if kind != "group":
        return [item]
    return [item, *((package, kind, outer) for outer in sorted(including.get(name, ())))]


def _say(items: Iterable[Item]) -> str:
    return " and ".join(
        f"{package}[{name}]" if kind == "extra" else f"{package} {kind} {name}".strip()
        for package, kind, name in items
    )


def _any(markers: Iterable[str]) -> Tree:
    trees = [equivalence.tree_of(marker) for marker in markers]
    return equivalence.disjunction(*trees) if trees else equivalence.TRUE


def _options(lock: UvLock, uv: Table) -> Iterator[str]:
    for stored, key, default in _OPTIONS:
        then, now = lock.options.get(stored, default), uv.get(key, default)
        if then != now:
            yield f"{key} {then} → {now}"
    then, now = lock.options.get("exclude-newer"), uv.get("exclude-newer")
    absolute = all(isinstance(one, str) and "T" in one for one in (then, now))
    if bool(then) != bool(now) or (absolute and then != now and "exclude-newer-span" not in lock.options):
        yield f"exclude-newer {then or 'not set'} → {now or 'not set'}"


def _metadata(lock: UvLock, uv: Table) -> Iterator[str]:
    then = {_static(one) for one in lock.manifest.get("dependency-metadata", ())}
    now = {_static(one) for one in uv.get("dependency-metadata", ())}
    for name in sorted({one[0] for one in then ^ now}):
        yield f"dependency-metadata of {name} changed"


def _static(said: Table) -> tuple[str, ...]:
    version = str(Version(str(said["version"]))) if "version" in said else ""
    requires = sorted(str(Requirement(str(line))) for line in said.get("requires-dist", ()))
    provided = said.get("provides-extra") or said.get("provides-extras") or ()
    extras = sorted(normalize(str(extra)) for extra in provided)
    return (normalize(str(said["name"])), version, str(said.get("requires-python", "")), *requires, *extras)


def _kind(lock: UvLock, root: Table) -> Iterator[str]:
    """Compare whether the root's project is a package that is installed, or a virtual one."""
    package = lock.package(lock.project) if lock.project else None
    if package is None or not settings.section(root, "project"):
        return
    said = settings.section(root, "tool", "uv").get("package")
    installed = bool(said) if isinstance(said, bool) else "build-system" in root
    if installed and "virtual" in package["source"]:
        yield f"{lock.project} is a package now"
    elif not installed and "editable" in package["source"] and not _wanted(lock):
        yield f"{lock.project} is no package any more"


def _wanted(lock: UvLock) -> bool:
    """Return whether another package depends on the root's project: it is then installed anyway."""
    for package in lock.packages:
        lists: list[list[Table]] = [package.get("dependencies", [])]
        for key in ("optional-dependencies", "dev-dependencies"):
            lists.extend(package.get(key, {}).values())
        named = {one["name"] for some in lists for one in some}
        if package["name"] != lock.project and lock.project in named:
            return True
    return False
