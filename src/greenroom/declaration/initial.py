"""Write a first declaration from what is there, and say what was decided."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import Array, Table

from greenroom import actor_environments
from greenroom.actor_environments import Fault
from greenroom.declaration.evidence import look
from greenroom.declaration.report import error_of
from greenroom.errors import DeclarationExists, DeclarationNotWritten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.declaration.evidence import Evidence

__all__ = ["Proposal", "propose", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A declaration to begin with."""

    text: str
    decisions: tuple[str, ...]
    """One sentence for each thing that was found or left out."""


def propose(directory: str) -> Proposal:
    """Return a first ``greenroom.toml`` for a directory; the same content gives the same text.

    :raises UnreadableDeclaration: its ``pyproject.toml`` cannot be read.
    """
    try:
        evidence = look(directory)
    except Fault as fault:
        raise error_of(fault) from fault
    return _Writer(evidence).proposal()


def write(proposal: Proposal, file: str) -> None:
    """Write a proposal where no declaration is.

    :raises DeclarationExists: the file is there, or its directory's ``pyproject.toml`` is a declaration.
    :raises DeclarationNotWritten: the file cannot be written.
    """
    directory = os.path.dirname(file)
    try:
        found = actor_environments.find(directory)
        if found is not None and os.path.samefile(os.path.dirname(found), directory):
            raise DeclarationExists(found)
        # «x»: a file that came meanwhile is not overwritten
        with open(file, "x", encoding="utf-8") as stream:
            stream.write(proposal.text)
    except FileExistsError as error:
        raise DeclarationExists(file) from error
    except OSError as error:
        raise DeclarationNotWritten(file, str(error.strerror)) from error
    except Fault as fault:
        raise error_of(fault) from fault


class _Writer:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.decisions: list[str] = []
        self.document = tomlkit.document()
        self._comment(self.document, "What greenroom builds: one environment for each component.", "")

    def proposal(self) -> Proposal:
        self._registry()
        self._environments()
        self._actors()
        self._servers()
        if not self.decisions:
            self.decisions.append("nothing was found to declare: the comments show what can be written")
        self.decisions += [f"left out: {fault}" for fault in self.evidence.faults]
        text = tomlkit.dumps(self.document)
        return Proposal(text=text, decisions=tuple(self.decisions))

    def _comment(self, table: Any, *lines: str) -> None:
        for line in lines:
            table.add(tomlkit.comment(line) if line else tomlkit.nl())

    def _registry(self) -> None:
        for at, (path, count) in enumerate(self.evidence.registries):
            if at == 0:
                self.document.add("registry", path)
                self.decisions.append(f"registry: the literal table of {path}, {count} actors")
            else:
                self._comment(self.document, f'registry = "{path}"')
                self.decisions.append(f"left out: the table of {path}, because one registry is read")

    def _environments(self) -> None:
        found = self.evidence
        if found.requirements:
            table = _add(self.document, "environments", "main")
            table.add("requirements", "requirements.txt")
            self.decisions.append("environment main: the requirements.txt beside the declaration")
        if found.registries or not found.extras:
            return
        lock = "" if found.locked else "; it has no uv.lock yet: run `uv lock`"
        for extra in found.extras:
            table = _add(self.document, "environments", extra)
            table.add("extras", _array([extra]))
            excluded = sorted({other for one in found.conflicts if extra in one for other in one} - {extra})
            if excluded:
                self._comment(table, f"declared as conflicting with {', '.join(excluded)}")
        self.decisions.append(f"environments: one for each extra of {found.name}{lock}")
        for one in found.conflicts:
            self.decisions.append(f"kept apart: {', '.join(one)}, which are declared as conflicting")

    def _actors(self) -> None:
        found = self.evidence
        if found.registries:
            return
        table = tomlkit.table()
        self._comment(table, "class name -> extras, a table, or false (the driver's own interpreter)")
        if found.extras:
            self._comment(table, f'"package.module.Worker" = {{ environment = "{found.extras[0]}" }}')
        elif found.requirements:
            self._comment(table, '"package.module.Worker" = { environment = "main" }')
        else:
            self._comment(table, '"package.module.Worker" = { requirements = "worker.txt" }')
        self._comment(table, '"package.module.Light" = false')
        self.document.add("actors", table)

    def _servers(self) -> None:
        found = self.evidence
        parents: dict[str, list[str]] = {}
        for path in found.servers:
            parents.setdefault(os.path.dirname(path), []).append(path)
        groups = {parent: paths for parent, paths in sorted(parents.items()) if parent and len(paths) > 1}
        if groups:
            table = tomlkit.table()
            table.add("servers", _array([f"{parent}/*" for parent in groups]))
            self.document.add("discover", table)
            for parent, paths in groups.items():
                self.decisions.append(f"discover: {len(paths)} servers in {parent}")
        single = [path for parent, paths in sorted(parents.items()) if parent not in groups for path in paths]
        for path in [*single, *found.doubtful]:
            self._server(path)

    def _server(self, path: str) -> None:
        name = os.path.basename(path)
        taken = self.document.get("servers", {})
        table = _add(self.document, "servers", path if name in taken else name)
        table.add("path", path)
        said = f"server {name}: {path}"
        if path in self.evidence.doubtful:
            table.add("requirements", f"{path}/requirements.txt")
            said += ", its requirements.txt (it has a pyproject.toml, too)"
        program = dict(self.evidence.programs).get(path)
        if program:
            table.add("command", _array(["python", program]))
        else:
            self._comment(table, 'command = ["python", "app.py", "--port", "{port}"]')
        self.decisions.append(said)


def _array(items: Iterable[str]) -> Array:
    array = tomlkit.array()
    array.extend(items)
    return array


def _add(document: tomlkit.TOMLDocument, table: str, name: str) -> Table:
    """Add ``[table.name]`` and return it."""
    if table not in document:
        document.add(table, tomlkit.table(is_super_table=True))
    inner = tomlkit.table()
    outer = document[table]
    assert isinstance(outer, Table)  # noqa: S101 - just added
    outer.add(name, inner)
    return inner
