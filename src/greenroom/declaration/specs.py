"""Make the specification of each environment: its source with its options, shared ones once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from greenroom.actor_environments import normalized
from greenroom.components import EnvironmentSpec, ProjectSource, PylockSource
from greenroom.declaration import options, servers, tables
from greenroom.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import Host, Index, Options, Source, Stage
    from greenroom.declaration.kinds import Path
    from greenroom.declaration.report import Report
    from greenroom.declaration.sources import Sources

__all__ = ["Specs"]

_OPTION_KEYS = frozenset(key.name for key in (*tables.SOURCE, *tables.BUILD))
_SOURCE_KEYS = frozenset(key.name for key in tables.SOURCE) - {"extras", "groups", "default-groups"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Specs:
    """Makes specifications from clean tables."""

    report: Report
    sources: Sources
    defaults: dict[str, Any]
    indexes: tuple[Index, ...]
    stages: tuple[Stage, ...]
    lock_names: Mapping[tuple[str, str], str]
    host: Host | None = None
    shared: dict[str, EnvironmentSpec | None] = field(default_factory=dict)
    """The environments of ``[environments]``; None: one with a reported problem."""
    alike: dict[tuple[str, ...] | None, EnvironmentSpec] = field(default_factory=dict)
    """Extras -> the specification of a table that says nothing else and has no problem."""

    def share(self, name: str, table: dict[str, Any]) -> None:
        """Make an environment that components can name."""
        self.shared[name] = self._own(("environment", name), table, ("environments", name), None)

    def of_component(
        self, kind: str, name: str, table: dict[str, Any], path: Path, directory: str | None = None
    ) -> EnvironmentSpec | None:
        """Return a component's specification.

        :param directory: the server's own, whose content is the source where the table says none.
        :returns: None: the driver's interpreter, or a problem, which is reported.
        """
        if "environment" not in table:
            return self._own((kind, name), table, path, directory)
        named = table["environment"]
        for key in sorted(_OPTION_KEYS.intersection(table)):
            todo = f"move it to [environments.{named}]" if named else "remove it: there is no environment"
            self.report.conflict((*path, key), f"{key!r} stands beside environment", todo)
        if named is False:
            return None
        if named not in self.shared:
            where = self.report.where((*path, "environment"))
            self.report.add(UnknownName("environment", named, known=self.shared, where=where))
        return self.shared.get(named)

    def _own(
        self, key: tuple[str, str], table: dict[str, Any], path: Path, directory: str | None
    ) -> EnvironmentSpec | None:
        short = tuple(table["extras"]) if table.keys() == {"extras"} and directory is None else None
        if short in self.alike:  # thousands of actors have a few sets of extras
            return replace(self.alike[short], lock_name=self.lock_names[key], origin=self.report.origin(path))
        problems = len(self.report.errors)
        source = self._source(table, path, directory)
        chosen = options.make_options(table, path, self.defaults, self.indexes, self.report)
        if directory is not None and "python" not in table:
            request, origin = servers.own_request(directory, self.report)
            chosen = replace(chosen, python=request, python_origin=origin) if request else chosen
        if source is None:
            return None
        if key[0] == "server":
            usual = self.defaults.get("extra-requirements", [])
            source = self.sources.with_more(source, usual, table.get("extra-requirements", []), path)
        chosen = replace(chosen, late_packages=self._late(source, chosen))
        spec = EnvironmentSpec(
            source=source,
            options=chosen,
            lock_name=self.lock_names[key],
            origin=self.report.origin(path),
            host=self.host,
        )
        if short is not None and len(self.report.errors) == problems:
            self.alike[short] = spec
        return spec

    def _source(self, table: dict[str, Any], path: Path, directory: str | None) -> Source | None:
        if directory is None or not _SOURCE_KEYS.isdisjoint(table):
            return self.sources.make(table, path)
        return servers.own_source(directory, table, path, self.sources, self.report)

    def _late(self, source: Source, chosen: Options) -> tuple[str, ...]:
        """Return the packages that come later: the table's own and those of the stages it needs."""
        extras = source.extras if isinstance(source, ProjectSource | PylockSource) else ()
        needed = {normalized(extra) for extra in extras}
        late = [
            normalized(name)
            for stage in self.stages
            if not needed.isdisjoint(map(normalized, stage.extras))
            for name in stage.late_packages
        ]
        return tuple(dict.fromkeys((*chosen.late_packages, *late)))
