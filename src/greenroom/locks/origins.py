"""Gather what decides a lock that greenroom writes, in a normal form.

Of a requirements file its logical lines count, of a local requirement what it depends on, of a
``uv.toml`` its values, of a script its metadata block (PEP 723). Names are paths relative to the
declaration, so that the same project elsewhere has the same inputs.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from json import dumps

from greenroom.components import InlineSource, RequirementsSource, ScriptSource
from greenroom.errors import LockUnreadable, RequirementsUnreadable
from greenroom.locks import credentials, host, requirements, settings
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.components import EnvironmentSpec, Host, Index
    from greenroom.locks.requirements import Entry, RequirementSet
    from greenroom.locks.uvlock import Table

__all__ = ["Inputs", "of", "script_metadata"]

_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_BUILDS = "build constraint"
_DEPENDENCIES = ("name", "dependencies", "optional-dependencies", "requires-python", "dynamic")
_RESOLUTION = frozenset(
    {
        "constraint-dependencies",
        "dependency-metadata",
        "environments",
        "exclude-dependencies",
        "exclude-newer",
        "exclude-newer-package",
        "fork-strategy",
        "index-strategy",
        "no-sources",
        "override-dependencies",
        "prerelease",
        "required-environments",
        "resolution",
        "sources",
        "workspace",
    }
)
"""Keys of ``[tool.uv]`` of a local requirement that decide what it depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What decides a lock."""

    contents: tuple[tuple[str, str], ...]
    """Name -> normal form, sorted by name."""
    variables: tuple[str, ...]
    """Names of variables that requirements files expand, sorted."""
    watched: tuple[str, ...]
    """Files whose stat decides the contents, absent ones included."""
    absent: tuple[str, ...]
    """Names of local requirements that are not there, so that nothing can be said of them."""
    packages: tuple[tuple[str, str], ...] = ()
    """Package -> all lines that ask for it or restrict it, sorted by name."""
    meaning: str = ""
    """All of it without the names of requirements files: sources of one meaning have one resolution."""


def of(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> Inputs:
    """Return what decides the lock of a source that has none of its own.

    :raises RequirementsUnreadable, SecretInSource, LockUnreadable: an input is at fault.
    :raises TypeError: the source has a lock of its own.
    """
    gathered = _Gathered(root, environ, spec.host)
    source, where = spec.source, str(spec.origin)
    if isinstance(source, RequirementsSource):
        gathered.requirements(source, where)
    elif isinstance(source, InlineSource):
        found = requirements.read_lines(source.requirements, environ, base=source.base, where=where)
        gathered.lines(found, "requirements")
    elif isinstance(source, ScriptSource):
        gathered.script(source)
    else:
        raise TypeError(source)
    if spec.options.indexes:
        gathered.contents["indexes"] = _indexes(spec.options.indexes)
    policy = {"prerelease": spec.options.prerelease, "index-strategy": spec.options.index_strategy}
    if any(policy.values()):
        gathered.contents["policy"] = _normal(policy)
    return Inputs(
        contents=tuple(sorted(gathered.contents.items())),
        variables=tuple(sorted(gathered.variables)),
        watched=tuple(dict.fromkeys(gathered.watched)),
        absent=tuple(gathered.absent),
        packages=tuple((name, "\n".join(lines)) for name, lines in sorted(gathered.packages.items())),
        meaning=_normal([gathered.said, gathered.unnamed(), gathered.absent]),
    )


def script_metadata(path: str) -> Table:
    """Return a script's inline metadata (PEP 723).

    :raises LockUnreadable: the script cannot be read, or has no block, or two.
    :raises SecretInSource: the block holds a credential.
    """
    import tomli  # noqa: PLC0415 - only for scripts

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise LockUnreadable(path, getattr(error, "strerror", None) or "not UTF-8") from error
    blocks = list(_BLOCK.finditer(text))
    if len(blocks) != 1:
        found = "has no block `# /// script`" if not blocks else "has two blocks `# /// script`"
        raise LockUnreadable(path, f"it {found}", todo="add one, as in PEP 723")
    credentials.refuse(text, path)
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in blocks[0]["content"].splitlines())
    try:
        return tomli.loads("\n".join(lines))
    except tomli.TOMLDecodeError as error:
        raise LockUnreadable(path, f"inline metadata: {error}") from error


class _Gathered:
    """The inputs of one lock while they are gathered."""

    def __init__(self, root: str, environ: Mapping[str, str], its_host: Host | None) -> None:
        self.root, self.environ, self.host = root, environ, its_host
        self.contents: dict[str, str] = {}
        self.variables: set[str] = set()
        self.watched: list[str] = []
        self.absent: list[str] = []
        self.packages: dict[str, list[str]] = {}
        self.said: list[list[str]] = []
        self.files: set[str] = set()

    def requirements(self, source: RequirementsSource, where: str) -> None:
        """Take requirements files with what restricts them."""
        base = os.path.dirname(source.requirements[0]) if source.requirements else source.base or self.root
        self.lines(
            requirements.read(
                source.requirements, self.environ, constraints=source.constraints, base=base, where=where
            ),
            None,
        )
        for kind, files in (("override", source.overrides), (_BUILDS, source.build_constraints)):
            if files:
                self.lines(requirements.read(files, self.environ, base=base, where=where), None, role=kind)
        if source.extra_requirements:
            extra = requirements.read_lines(source.extra_requirements, self.environ, base=base, where=where)
            self.lines(extra, "requirements")
        if source.config is not None:
            self.watched.append(source.config)
            self.contents[self.name(source.config)] = _normal(settings.table(source.config))

    def lines(self, found: RequirementSet, label: str | None, role: str = "") -> None:
        """Take what requirements files say, each file for itself, or all under a label."""
        found = host.applied(found, self.host, self.environ)
        self.watched.extend(found.watched)
        self.watched.extend(found.files)
        self.variables.update(found.variables)
        texts: dict[str, list[str]] = {self.name(file): [] for file in found.files}
        self.said.append([role])
        for entry in found.lines:
            name = label if label and entry.line.file not in found.files else self.name(entry.line.file)
            text = f"{entry.kind} {'-e ' if entry.editable else ''}{credentials.strip_all(entry.line.text)}"
            texts.setdefault(name, []).append(text)
            # A path is what it leads to, and options may be relative to where they stand.
            place = found.base if entry.kind == "option" else entry.path or ""
            self.said[-1].append(f"{text} {place}")
            if entry.name is not None and role != _BUILDS:
                self.packages.setdefault(entry.name, []).append(f"{role} {text}")
            if entry.path is not None:
                self.local(entry.path)
        for name, lines in texts.items():
            named = f"{name} ({role})" if role else name
            self.contents[named] = "\n".join(lines)
            self.files.add(named)

    def unnamed(self) -> dict[str, str]:
        """Return what was taken beside the lines of requirements files."""
        return {name: content for name, content in self.contents.items() if name not in self.files}

    def local(self, directory: str) -> None:
        """Take what a local requirement depends on, and its own local sources."""
        name = self.name(directory)
        if name in self.contents or name in self.absent:
            return
        pyproject = os.path.join(directory, "pyproject.toml")
        self.watched.append(pyproject)
        if not os.path.exists(directory):
            self.absent.append(name)
            return
        table = settings.table(pyproject) if os.path.isdir(directory) else None
        project = settings.section(table, "project")
        uv = settings.section(table, "tool", "uv")
        content = {key: project[key] for key in _DEPENDENCIES if key in project}
        content["uv"] = {key: uv[key] for key in _RESOLUTION if key in uv}
        if "dependencies" in project.get("dynamic", ()) or not project:
            for legacy in ("setup.py", "setup.cfg"):
                content[legacy] = self.text(os.path.join(directory, legacy))
        self.contents[name] = _normal(content)
        with suppress(RequirementsUnreadable):  # uv says what is wrong with a project
            self.asked([line for line in project.get("dependencies", ()) if isinstance(line, str)], directory)
        instead = host.instead_of_source(directory, self.host, self.environ)
        if instead is not None:
            self.watched.extend(instead.watched)
            self.contents[f"{name} (host)"] = instead.requirement
        for package, said in settings.section(uv, "sources").items():
            if instead is not None and normalize(package) == instead.name:
                continue
            for one in said if isinstance(said, list) else [said]:
                if isinstance(one, dict) and isinstance(one.get("path"), str):
                    self.local(os.path.normpath(os.path.join(directory, one["path"])))

    def script(self, source: ScriptSource) -> None:
        """Take a script's metadata."""
        self.watched.append(source.path)
        metadata = script_metadata(source.path)
        self.contents[self.name(source.path)] = _normal(metadata)
        base = os.path.dirname(source.path)
        lines = [str(line) for line in metadata.get("dependencies", ())]
        for entry in self.asked(lines, base):
            if entry.path is not None:
                self.local(entry.path)

    def asked(self, lines: Iterable[str], base: str) -> tuple[Entry, ...]:
        """Take the packages that a project or a script asks for.

        :returns: the lines, read.
        """
        found = requirements.read_lines(tuple(lines), {}, base=base, where=base).lines
        for entry in found:
            if entry.name is not None:
                self.packages.setdefault(entry.name, []).append(credentials.strip_all(entry.line.text))
        return found

    def text(self, path: str) -> str:
        """Return a file's text, empty where there is none."""
        self.watched.append(path)
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except OSError:
            return ""

    def name(self, path: str) -> str:
        """Return a path as the lock names it."""
        return os.path.relpath(path, self.root)


def _indexes(indexes: Iterable[Index]) -> str:
    return _normal([[one.name, credentials.strip(one.url), one.explicit, one.default] for one in indexes])


def _normal(value: object) -> str:
    return dumps(value, sort_keys=True, default=str, ensure_ascii=False)
