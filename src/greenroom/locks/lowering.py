"""Say a project's requirements the way ``uv.lock`` says them, so that both can be compared.

``[tool.uv.sources]`` decides where a requirement comes from: uv splits one requirement by the
markers of its sources, and leaves the rest to the index. Reference: uv's documentation, «Managing
dependencies».
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from greenroom.locks import credentials, equivalence, settings
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.locks.markers import Tree
    from greenroom.locks.uvlock import Table

__all__ = ["Context", "Demand", "declared", "groups_of", "locked"]


@dataclass(frozen=True, slots=True)
class Demand:
    """One requirement without its marker, in normal form."""

    name: str
    extras: tuple[str, ...] = ()
    specifier: str = ""
    source: tuple[str, ...] = ()
    """Kind and place: (``git``, url, kind of reference, reference, subdirectory), (``local``, path) …"""
    conflict: str = ""

    def __str__(self) -> str:
        """Return what is wanted of the package, in words."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        place = " ".join(part for part in self.source if part)
        return " ".join(part for part in (extras, self.specifier, place) if part) or "any version"


Demands = dict[Demand, "Tree"]
"""Each demand with the marker under which it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where a ``pyproject.toml`` stands and what decides its sources."""

    root: str
    """The workspace's directory: the lock's paths are relative to it."""
    directory: str
    project: str | None
    sources: Mapping[str, tuple[tuple[Table, ...], str]]
    """Normalized name -> the entries, and the directory that their paths are relative to."""
    indexes: Mapping[str, str]
    members: Mapping[str, str]
    """Workspace member -> directory."""

    @classmethod
    def of(
        cls, root: str, directory: str, pyproject: Table, workspace: Table | None, members: Mapping[str, str]
    ) -> Context:
        """Return the context of one ``pyproject.toml``.

        :param workspace: the root's own, whose sources and indexes count too; None outside of it.
        """
        sources: dict[str, tuple[tuple[Table, ...], str]] = {}
        indexes: dict[str, str] = {}
        for table, place in ((workspace, root), (pyproject, directory)):
            uv = settings.section(table, "tool", "uv")
            found = settings.section(uv, "sources")
            for package, entry in found.items():
                entries = tuple(entry) if isinstance(entry, list) else (entry,)
                sources[normalize(package)] = (entries, place)
            for index in uv.get("index", ()):
                if isinstance(index, dict) and "name" in index and "url" in index:
                    indexes[str(index["name"])] = _index(str(index["url"]), place)
        name = settings.section(pyproject, "project").get("name")
        return cls(
            root=root,
            directory=directory,
            project=normalize(str(name)) if name else None,
            sources=sources,
            indexes=indexes,
            members=members,
        )


def declared(
    lines: Iterable[str], context: Context, *, extra: str | None = None, group: str | None = None
) -> Demands:
    """Return what requirement lines of a ``pyproject.toml`` demand.

    :param extra: the extra, or ``group``: the dependency group that the lines belong to.
    :raises ValueError: a line is no requirement.
    """
    demands: Demands = {}
    for line in lines:
        requirement = Requirement(line)
        marker = equivalence.tree_of(str(requirement.marker) if requirement.marker else None)
        if extra is not None:
            marker = equivalence.conjunction(marker, f"extra == '{extra}'")
        for demand, more in _lowered(requirement, context, extra, group):
            _add(demands, demand, equivalence.conjunction(marker, more))
    return demands


def locked(tables: Iterable[Table], context: Context) -> Demands:
    """Return what a lock says that was demanded when it was made.

    :raises ValueError: an entry holds something that is no marker or specifier.
    """
    demands: Demands = {}
    for table in tables:
        demand = Demand(
            name=table["name"],
            extras=tuple(sorted(table.get("extras", ()))),
            specifier=_specifier(table.get("specifier", "")),
            source=_locked_source(table, context),
            conflict=_conflict(table.get("conflict")),
        )
        _add(demands, demand, equivalence.tree_of(table.get("marker")))
    return demands


def groups_of(pyproject: Table) -> dict[str, list[str]]:
    """Return the requirement lines of each dependency group, included groups with them (PEP 735).

    ``[tool.uv] dev-dependencies`` belong to ``dev``.

    :raises ValueError: a group includes one that is missing, or itself.
    """
    found = {
        normalize(name): lines for name, lines in settings.section(pyproject, "dependency-groups").items()
    }
    groups = {name: list(_group(name, found, ())) for name in found}
    legacy = settings.section(pyproject, "tool", "uv").get("dev-dependencies")
    if legacy:
        groups["dev"] = [*groups.get("dev", []), *legacy]
    return groups


def _group(name: str, groups: Mapping[str, list[object]], seen: tuple[str, ...]) -> Iterator[str]:
    if name in seen or name not in groups:
        msg = f"dependency group {name!r} includes itself" if name in seen else f"there is no group {name!r}"
        raise ValueError(msg)
    for line in groups[name]:
        if isinstance(line, dict):
            yield from _group(normalize(str(line.get("include-group"))), groups, (*seen, name))
        else:
            yield str(line)


def _add(demands: Demands, demand: Demand, marker: Tree) -> None:
    before = demands.get(demand)
    demands[demand] = marker if before is None else equivalence.disjunction(before, marker)


def _lowered(
    requirement: Requirement, context: Context, extra: str | None, group: str | None
) -> Iterator[tuple[Demand, Tree]]:
    """Yield the demands that one requirement becomes, each with the marker of its source."""
    name = normalize(requirement.name)
    extras = tuple(sorted(normalize(one) for one in requirement.extras))
    specifier = _specifier(str(requirement.specifier))
    if requirement.url is not None:
        yield Demand(name, extras, "", _direct(requirement.url, context)), equivalence.TRUE
        return
    entries, place = context.sources.get(name, ((), ""))
    total: list[Tree] = []
    for source in (one for one in entries if _applies(one, extra, group)):
        marker = equivalence.tree_of(source.get("marker"))
        total.append(marker)
        place_of, keeps = _source(name, source, context, place)
        owner = extra if "extra" in source else group
        conflict = f"{context.project}:{owner}" if "extra" in source or "group" in source else ""
        yield Demand(name, extras, specifier if keeps else "", place_of, conflict), marker
    if equivalence.TRUE not in total:
        yield Demand(name, extras, specifier), equivalence.negation(equivalence.disjunction(*total))


def _applies(source: Table, extra: str | None, group: str | None) -> bool:
    if "extra" in source:
        return extra is not None and normalize(str(source["extra"])) == extra
    if "group" in source:
        return group is not None and normalize(str(source["group"])) == group
    return True


def _source(name: str, source: Table, context: Context, place: str) -> tuple[tuple[str, ...], bool]:
    """Return a source in normal form, and whether the specifier counts beside it."""
    if "index" in source:
        return ("index", context.indexes.get(str(source["index"]), str(source["index"]))), True
    if "git" in source:
        kind = next((kind for kind in ("rev", "tag", "branch") if kind in source), "")
        reference = str(source[kind]) if kind else ""
        return _git(str(source["git"]), kind, reference, str(source.get("subdirectory", ""))), False
    if "url" in source:
        return ("url", credentials.strip(str(source["url"])), str(source.get("subdirectory", ""))), False
    if "path" in source:
        return _local(_path(str(source["path"]), place), editable=bool(source.get("editable"))), False
    if source.get("workspace"):
        member = os.path.realpath(context.members.get(name, os.path.join(context.root, name)))
        return _local(member, editable=source.get("editable") is not False), False
    return (), True


def _direct(url: str, context: Context) -> tuple[str, ...]:
    """Return a direct reference (PEP 508) in normal form."""
    plain, _, fragment = url.partition("#")
    subdirectory = parse_qs(fragment).get("subdirectory", [""])[0]
    if plain.startswith("git+"):
        place, at, reference = plain[4:].rpartition("@")
        if not at or ("/" in reference.split("?")[0] and "//" in reference):
            place, reference = plain[4:], ""
        return _git(place, "rev" if reference else "", reference, subdirectory)
    if plain.startswith("file:"):
        return _local(os.path.realpath(unquote(urlsplit(plain).path)), editable=False)
    if "://" in plain:
        return ("url", credentials.strip(plain), subdirectory)
    return _local(_path(plain, context.directory), editable=False)


def _locked_source(table: Table, context: Context) -> tuple[str, ...]:
    if "index" in table:
        return ("index", _index(table["index"], context.root))
    if "git" in table:
        plain, _, query = table["git"].partition("?")
        said = parse_qs(query)
        kind = next((kind for kind in ("rev", "tag", "branch") if kind in said), "")
        return _git(plain, kind, said[kind][0] if kind else "", said.get("subdirectory", [""])[0])
    if "url" in table:
        plain, _, fragment = table["url"].partition("#")
        subdirectory = table.get("subdirectory") or parse_qs(fragment).get("subdirectory", [""])[0]
        return ("url", credentials.strip(plain), subdirectory)
    for kind in ("editable", "virtual", "directory", "path"):
        if kind in table:
            place = _path(table[kind], context.root)
            members = map(os.path.realpath, context.members.values())
            editable = kind == "editable" or (kind == "virtual" and place in members)
            return _local(place, editable=editable)
    return ()


def _local(place: str, *, editable: bool) -> tuple[str, ...]:
    return ("local", place, "editable" if editable else "")


def _git(url: str, kind: str, reference: str, subdirectory: str) -> tuple[str, ...]:
    return ("git", credentials.strip(url.removeprefix("git+")).rstrip("/"), kind, reference, subdirectory)


def _path(place: str, base: str) -> str:
    return os.path.realpath(os.path.join(base, place))


def _index(url: str, base: str) -> str:
    return credentials.strip(url).rstrip("/") if "://" in url else _path(url, base)


def _specifier(text: str) -> str:
    return ",".join(sorted(str(one).replace(" ", "") for one in SpecifierSet(text)))


def _conflict(table: Table | None) -> str:
    return f"{table['package']}:{table.get('extra') or table.get('group')}" if table else ""
