"""Make a source from the keys of a component's or an environment's table."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from greenroom.actor_environments import normalized
from greenroom.components import InlineSource, ProjectSource, PylockSource, RequirementsSource, ScriptSource
from greenroom.declaration.indexes import has_credentials
from greenroom.errors import SecretInDeclaration, UnknownExtra, UnknownGroup, UnknownMember

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.components import Source
    from greenroom.declaration.kinds import Path
    from greenroom.declaration.projects import Project, Projects
    from greenroom.declaration.report import Report

__all__ = ["Sources"]

_PROJECT = ("project", "package")
_FILES = ("requirements", "dependencies")
_RESTRICTIONS = ("constraints", "overrides", "build-constraints")
_NAMES = ("extras", "groups", "default-groups")
_PYLOCK = re.compile(r"pylock\.([^.]+\.)?toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Makes sources; relative paths are taken from the declaration's directory."""

    root: str
    report: Report
    projects: Projects
    project: str
    """The uv project where a table names none."""
    default_groups: bool = True

    def make(self, table: dict[str, Any], path: Path) -> Source | None:
        """Return the source that a table says; None: it says none or several, which is reported."""
        form = self._form(table, path)
        if form is None:
            return None
        if form == "pylock":
            return self._pylock(table, path)
        if form == "script":
            return ScriptSource(path=self.absolute(table["script"]))
        if form == "requirements":
            return self._requirements(table, path)
        return self.of_project(
            table, path, self.absolute(table["project"]) if "project" in table else self.project
        )

    def absolute(self, path: str) -> str:
        """Return a declared path as an absolute, normalized one."""
        return os.path.normpath(os.path.join(self.root, path))

    def with_more(self, source: Source, usual: list[str], own: list[str], path: Path) -> Source:
        """Return a server's source with requirements added; one that has a lock is left as it is locked.

        :param usual: the defaults', which only a source without a lock takes.
        :param own: the server's own; beside a lock they are reported.
        """
        self._no_credentials(usual, ("defaults", "extra-requirements"))
        self._no_credentials(own, (*path, "extra-requirements"))
        lines = tuple(dict.fromkeys((*usual, *own)))
        if isinstance(source, RequirementsSource):
            return replace(source, extra_requirements=(*source.extra_requirements, *lines))
        if isinstance(source, InlineSource):
            return replace(source, requirements=(*source.requirements, *lines))
        if own:
            what = "requirements are added, and the source has a lock or metadata of its own"
            self.report.conflict((*path, "extra-requirements"), what, "add them to that source")
        return source

    def _form(self, table: dict[str, Any], path: Path) -> str | None:
        forms = {
            "pylock": ("pylock",),
            "script": ("script",),
            "requirements": _FILES,
            "project": _PROJECT if "pylock" in table else (*_PROJECT, "extras", "groups"),
        }
        said = {form: [key for key in keys if key in table] for form, keys in forms.items()}
        chosen = [form for form, keys in said.items() if keys]
        if len(chosen) > 1:
            keys = [key for form in chosen for key in said[form]]
            self.report.conflict(path, f"several sources: {', '.join(keys)}", "keep one")
        elif chosen:
            return chosen[0] if self._nothing_foreign(chosen[0], table, path) else None
        elif not self.report.spoiled(path):
            todo = "give extras, pylock, requirements, dependencies, script or environment"
            self.report.conflict(path, "no source is said", todo)
        return None

    def _nothing_foreign(self, form: str, table: dict[str, Any], path: Path) -> bool:
        foreign = {"script": (*_NAMES, *_RESTRICTIONS), "requirements": _NAMES}.get(form, _RESTRICTIONS)
        found = [key for key in foreign if key in table]
        for key in found:
            owner = "a uv project or a pylock file" if key in _NAMES else "requirements or dependencies"
            self.report.conflict(
                (*path, key), f"{key!r} belongs to {owner}", f"remove it, or the {form} source"
            )
        return not found

    def _pylock(self, table: dict[str, Any], path: Path) -> PylockSource:
        file = self.absolute(table["pylock"])
        if not _PYLOCK.fullmatch(os.path.basename(file)):
            what = "the file's name is not one that the standard admits"
            self.report.refused((*path, "pylock"), what, "name it pylock.toml or pylock.<name>.toml")
        return PylockSource(
            path=file,
            extras=tuple(table.get("extras", ())),
            groups=tuple(table.get("groups", ())),
            default_groups=table.get("default-groups", self.default_groups),
        )

    def _requirements(self, table: dict[str, Any], path: Path) -> RequirementsSource | InlineSource:
        lines = tuple(table.get("dependencies", ()))
        self._no_credentials(lines, (*path, "dependencies"))
        files = {key: self._files(table, key) for key in ("requirements", *_RESTRICTIONS)}
        if not any(files.values()):
            return InlineSource(requirements=lines, base=self.root)
        return RequirementsSource(
            requirements=files["requirements"],
            constraints=files["constraints"],
            overrides=files["overrides"],
            build_constraints=files["build-constraints"],
            extra_requirements=lines,
            base="" if files["requirements"] else self.root,
        )

    def _no_credentials(self, lines: Iterable[str], path: Path) -> None:
        """Note requirements that hold credentials."""
        for at, line in enumerate(lines):
            if has_credentials(line):
                todo = (
                    "take them out; set UV_INDEX_<NAME>_USERNAME and _PASSWORD of a named index, or use netrc"
                )
                where = self.report.where((*path, at))
                self.report.add(
                    SecretInDeclaration("the requirement holds credentials", where=where, todo=todo)
                )

    def _files(self, table: dict[str, Any], key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        return tuple(self.absolute(path) for path in ([value] if isinstance(value, str) else value))

    def of_project(self, table: dict[str, Any], path: Path, directory: str) -> ProjectSource:
        """Return the extras and groups of a uv project, names that it does not declare reported."""
        self.check_names(table, path, directory)
        return ProjectSource(
            directory=directory,
            package=table.get("package"),
            extras=tuple(table.get("extras", ())),
            groups=tuple(table.get("groups", ())),
            default_groups=table.get("default-groups", self.default_groups),
        )

    def check_names(self, table: dict[str, Any], path: Path, directory: str) -> None:
        """Note extras, groups and members that a project does not declare, as far as that is known."""
        root = self.projects.read(directory)
        project = self._member(root, table, path) if root and "package" in table else root
        if root is None or project is None:
            return
        groups = tuple(dict.fromkeys((*project.groups, *root.groups)))
        for key, known in (("extras", project.extras), ("groups", groups)):
            names = {normalized(name) for name in known or ()}
            for at, name in enumerate(table.get(key, ())):
                if known is not None and normalized(name) not in names:
                    kind = UnknownExtra if key == "extras" else UnknownGroup
                    where = self.report.where((*path, key, at))
                    self.report.add(kind(name, known=known, of=project.file, where=where))

    def _member(self, root: Project, table: dict[str, Any], path: Path) -> Project | None:
        member, names = self.projects.member(root, table["package"])
        if member is None and names is not None:
            where = self.report.where((*path, "package"))
            self.report.add(UnknownMember(table["package"], known=names, where=where))
        return member
