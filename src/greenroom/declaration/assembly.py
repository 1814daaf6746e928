"""Put a declaration together from its tables: the order in which its parts need one another."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from greenroom import actor_environments
from greenroom.actor_environments import normalized
from greenroom.components import Component, Declaration, Host, Origin, Stage, StoreOptions
from greenroom.declaration import indexes, naming, services, tables
from greenroom.declaration.kinds import WRONG
from greenroom.declaration.options import make_launch
from greenroom.declaration.places import Places
from greenroom.declaration.projects import Projects
from greenroom.declaration.report import Report
from greenroom.declaration.sources import Sources
from greenroom.declaration.specs import Specs
from greenroom.errors import DuplicateName, UnknownExtra, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.actor_environments import Raw
    from greenroom.components import EnvironmentSpec, Launch
    from greenroom.declaration.kinds import Path

__all__ = ["Assembly"]

Tables = dict[str, dict[str, Any]]


class Assembly:
    """One reading of one declaration; problems go into ``report``, and what they spoil is left out."""

    def __init__(self, raw: Raw, parse: Callable[[str], dict[str, object]]) -> None:
        self.raw = raw
        self.report = Report(raw)
        self.projects = Projects(self.report.fault, parse)
        checked = {key: value for key, value in raw.table.items() if key != "actors"}
        self.clean: dict[str, Any] = tables.TOP.read(checked, (), self.report)
        if "registry" not in self.clean:  # absent, or refused already
            raw.table.pop("registry", None)
        self.actors = self._actors()
        self.places = Places.find(raw.root, self.clean, self.report)
        self.defaults: dict[str, Any] = self.clean.get("defaults", {})

    def declaration(self) -> Declaration:
        """Return the whole; parts with a reported problem are missing."""
        specs = self._specs()
        components = (*self._actor_components(specs), *self._server_components(specs))
        self._check_stages(specs)
        store = self.clean.get("store", {})
        paths = store.get("path", [])
        driver = self.defaults.get("driver")
        return Declaration(
            file=self.raw.file,
            root=self.raw.root,
            components=components,
            stages=specs.stages,
            store=StoreOptions(
                paths=tuple(map(self._absolute, [paths] if isinstance(paths, str) else paths)),
                aliases=self._absolute(store["aliases"]) if "aliases" in store else None,
            ),
            driver=None if driver is None else self._absolute(driver),
            pythons=tuple(map(self._absolute, self.defaults.get("pythons", []))),
            python_downloads=self.defaults.get("python-downloads", False),
            on_drift=self.clean.get("image", {}).get("on-drift", "error"),
            files=self._files(),
        )

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.raw.root, path))

    def _actors(self) -> Tables:
        """Return the clean table of each actor; a list of extras as a table of them."""
        found: Tables = {}
        for actor in actor_environments.actors(self.raw, self.report.fault):
            path = self._path(actor)
            value = tables.ACTOR.read(actor.value, path, self.report)
            if value is not WRONG:
                found[actor.name] = self._table(value, path)
        return found

    def _path(self, actor: actor_environments.Actor) -> Path:
        """Return an actor's path; the line of a registry's, or of a name that nests, is put on record."""
        path: Path = ("actors", actor.name)
        if actor.file != self.raw.file:
            self.report.places[path] = Origin(file=actor.file, line=actor.line, key=f'"{actor.name}"')
        elif actor.path != (*self.raw.prefix, *path):
            self.report.aliases[path] = actor.path[len(self.raw.prefix) :]
        return path

    def _table(self, value: Any, path: Path) -> dict[str, Any]:
        if value is False:
            return {"environment": False}
        if isinstance(value, list):
            self.report.short.add(path)
            return {"extras": value}
        table: dict[str, Any] = value
        return table

    def _specs(self) -> Specs:
        shared: Tables = {
            name: self._table(value, ("environments", name))
            for name, value in self.clean.get("environments", {}).items()
        }
        own = [("actor", name) for name, table in self.actors.items() if "environment" not in table]
        own += [("server", name) for name, table in self.places.tables.items() if "environment" not in table]
        project = self._absolute(self.defaults.get("project", "."))
        sources = Sources(
            root=self.raw.root,
            report=self.report,
            projects=self.projects,
            project=project,
            default_groups=self.defaults.get("default-groups", True),
        )
        stages = self.clean.get("stages", {})
        specs = Specs(
            report=self.report,
            sources=sources,
            defaults=self.defaults,
            indexes=indexes.read(self.clean.get("index", []), self.raw.root, self.report),
            stages=tuple(
                Stage(
                    name=name,
                    extras=tuple(stage.get("extras", ())),
                    late_packages=tuple(map(normalized, stage.get("late-packages", ()))),
                )
                for name, stage in stages.items()
            ),
            lock_names=naming.lock_names([*(("environment", name) for name in shared), *own]),
            host=self._host(),
        )
        for name, table in shared.items():
            specs.share(name, table)
        return specs

    def _host(self) -> Host | None:
        table = self.clean.get("host")
        if table is None or "name" not in table:  # a missing name is reported
            return None
        driver = self.defaults.get("driver")
        return Host(
            name=normalized(table["name"]),
            path=self._absolute(table.get("path", ".")),
            version=table.get("version"),
            driver=None if driver is None else self._absolute(driver),
        )

    def _actor_components(self, specs: Specs) -> list[Component]:
        found = []
        plain = make_launch({}, self.defaults, self.raw.root)
        for name, table in self.actors.items():
            path = ("actors", name)
            spec = specs.of_component("actor", name, table, path)
            launch = plain if table.keys() <= {"extras"} else make_launch(table, self.defaults, self.raw.root)
            found.append(self._component("actor", name, spec, launch, path))
        return found

    def _server_components(self, specs: Specs) -> list[Component]:
        found = []
        known = {*self.places.tables, *self.clean.get("servers", {})}
        aliases: dict[str, Path] = {}
        for name, table in self.places.tables.items():
            path, directory = self.places.paths[name], self.places.directories.get(name)
            if name in self.actors:
                first = self.report.where(("actors", name))
                self.report.add(DuplicateName("component", name, where=self.report.where(path), first=first))
            spec = specs.of_component("server", name, table, path, directory)
            launch = make_launch(table, self.defaults, self.raw.root, directory or self.raw.root)
            if directory is not None and spec is not None:
                launch = replace(launch, alias=self._alias(table, directory, path, aliases))
            component = self._component("server", name, spec, launch, path)
            found.append(replace(component, service=services.read(table, path, self.report)))
            for at, needed in enumerate(table.get("needs", ())):
                if needed not in known:
                    where = self.report.where(
                        (*path, "needs", at if isinstance(table["needs"], list) else needed)
                    )
                    self.report.add(UnknownName("server", needed, known=known, where=where))
        return found

    def _alias(
        self, table: dict[str, Any], directory: str, path: Path, others: dict[str, Path]
    ) -> str | None:
        """Return where a server's alias is to be; a place that another one has is reported."""
        said = table.get("alias", self.defaults.get("alias"))
        if said is None:
            return None
        place = os.path.normpath(os.path.join(directory, said))
        if place in others:
            what = f"the alias {place} is also the one of {others[place][-1]}"
            self.report.conflict(path, what, "give one of them another alias")
        others[place] = path
        return place

    def _component(
        self, kind: str, name: str, spec: EnvironmentSpec | None, launch: Launch, path: Path
    ) -> Component:
        return Component(name=name, kind=kind, spec=spec, launch=launch, origin=self.report.origin(path))

    def _check_stages(self, specs: Specs) -> None:
        """Note extras of stages that no project declares, as far as all projects are known."""
        self.projects.read(specs.sources.project)
        known = self.projects.extras()
        if known is None:
            return
        names = {normalized(name) for name in known}
        for name, table in self.clean.get("stages", {}).items():
            for at, extra in enumerate(table.get("extras", ())):
                if normalized(extra) not in names:
                    where = self.report.where(("stages", name, "extras", at))
                    self.report.add(UnknownExtra(extra, known=known, of="the project", where=where))

    def _files(self) -> tuple[str, ...]:
        """Return what decides the declaration on the disk: a nearer form of it would count, too."""
        found = {self.raw.file, *self.projects.files, *self.places.files}
        found.update(os.path.join(self.raw.root, name) for name in ("greenroom.toml", "pyproject.toml"))
        if "registry" in self.clean:
            found.add(self._absolute(self.clean["registry"]))
        return tuple(sorted(found))
