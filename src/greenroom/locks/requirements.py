"""Read requirements files with everything they include, as pip and uv do.

Included files are relative to the file that includes them; local requirements (``./lib``, ``-e .``)
are relative to the folder of the first file, whichever file names them: that is where both tools
look when they are run there.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement

from greenroom.errors import RequirementsUnreadable, SecretInSource, nearest
from greenroom.locks import credentials
from greenroom.locks.lines import Line, decode, expand, logical_lines
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Entry", "RequirementSet", "formats", "read", "read_lines"]

_VALUED = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-i": "--index-url",
    "-f": "--find-links",
}
_OPTIONS = {
    *_VALUED.values(),
    "--extra-index-url",
    "--no-binary",
    "--only-binary",
    "--trusted-host",
    "--use-feature",
}
_SWITCHES = {"--no-index", "--pre", "--prefer-binary", "--require-hashes"}
_PER_REQUIREMENT = re.compile(r"\s--(?:hash|config-settings?|global-option)(?:=|\s).*$")
_LOCAL = re.compile(
    r"(?P<place>(?:\.{1,2}(?:[/\\]|(?=\[|;|\s|$))|[/~]|file:)[^\[;]*?)\s*(?P<extras>\[[^\]]*\])?\s*(?:;.*)?"
)
_REMOTE = re.compile(r"(?:[a-z]+\+)?[a-z]+://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a requirements file, or of one that it includes."""

    line: Line
    """With variables replaced."""
    kind: str
    """``requirement``, ``constraint`` or ``option``."""
    name: str | None = None
    """The normalized name, where the line says it."""
    extras: tuple[str, ...] = ()
    editable: bool = False
    path: str | None = None
    """The absolute path of a local requirement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementSet:
    """What requirements files say, all included ones with them."""

    lines: tuple[Entry, ...]
    files: tuple[str, ...]
    """Every file that was read, in order."""
    variables: tuple[str, ...]
    """Names of the variables that were replaced, sorted."""
    base: str
    """The directory that local requirements are relative to."""
    watched: tuple[str, ...] = ()
    """Further files whose stat decides what the lines say."""


@dataclass(slots=True)
class _Reader:
    environ: Mapping[str, str]
    base: str
    entries: list[Entry] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    variables: set[str] = field(default_factory=set)
    open_now: list[tuple[str, str]] = field(default_factory=list)

    def file(self, path: str, where: str, *, constraint: bool) -> None:
        """Read one file and those that it includes."""
        path = os.path.normpath(path)
        place = os.path.realpath(path)
        if any(place == other for other, _ in self.open_now):
            raise RequirementsUnreadable(
                f"{path} includes itself: {' → '.join((*(name for _, name in self.open_now), path))}",
                where=where,
            )
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            reason = (
                "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            )
            raise RequirementsUnreadable(f"{path} {reason}", where=where) from error
        if path not in self.files:
            self.files.append(path)
        self.open_now.append((place, path))
        for line in logical_lines(decode(content, path), path):
            self.line(line, os.path.dirname(path), constraint=constraint)
        self.open_now.pop()

    def line(self, raw: Line, directory: str, *, constraint: bool) -> None:
        """Take one logical line; what it includes is relative to ``directory``."""
        if credentials.find(raw.text) is not None:
            raise SecretInSource(raw.file, raw.number)
        line, names = expand(raw, self.environ)
        self.variables.update(_outside_userinfo(raw.text, names))
        if not line.text.startswith("-"):
            self.entries.append(_requirement(line, self.base, constraint=constraint))
            return
        option, value = _option(line)
        if option in {"--requirement", "--constraint"}:
            if _REMOTE.match(value) and not value.startswith("file:"):
                raise RequirementsUnreadable(
                    f"includes {credentials.strip(value)}, and a file of the network can change unseen",
                    where=line.where,
                    todo="save it beside and include that",
                )
            place = os.path.join(directory, value.removeprefix("file://"))
            self.file(place, line.where, constraint=constraint or option == "--constraint")
        elif option == "--editable":
            text = Line(text=value, file=line.file, number=line.number)
            self.entries.append(_requirement(text, self.base, constraint=constraint, editable=True))
        else:
            self.entries.append(Entry(line=line, kind="option"))


def read(
    files: Iterable[str],
    environ: Mapping[str, str],
    *,
    constraints: Iterable[str] = (),
    base: str | None = None,
    where: str = "",
) -> RequirementSet:
    """Return what requirements files say.

    :param files: absolute paths.
    :param constraints: files whose lines only restrict.
    :param base: the directory of local requirements; None: the first file's.
    :param where: who names the files, for the message when one is missing.
    :raises RequirementsUnreadable: a file is missing, includes itself, or has a line that means nothing.
    :raises SecretInSource: a line holds a credential.
    """
    listed, restricting = list(files), list(constraints)
    first = os.path.dirname((listed or restricting or ["."])[0])
    reader = _Reader(environ, base or first)
    for path in listed:
        reader.file(path, where or path, constraint=False)
    for path in restricting:
        reader.file(path, where or path, constraint=True)
    return _set(reader)


def read_lines(lines: Iterable[str], environ: Mapping[str, str], *, base: str, where: str) -> RequirementSet:
    """Return what requirement lines of a declaration say; ``-r`` is relative to ``base``.

    :raises RequirementsUnreadable, SecretInSource: as :func:`read`; the place is ``where``.
    """
    reader = _Reader(environ, base)
    for line in logical_lines("\n".join(lines), where):
        reader.line(Line(text=line.text, file=where, number=0), base, constraint=False)
    return _set(reader)


def formats(found: RequirementSet) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the packages whose wheels are not to be used, and those that are not to be built.

    From ``--no-binary`` and ``--only-binary``; ``:all:`` stands for every one, ``:none:`` forgets.
    """
    refused: dict[str, list[str]] = {"--no-binary": [], "--only-binary": []}
    for entry in found.lines:
        option, _, value = entry.line.text.replace("=", " ", 1).partition(" ")
        if entry.kind == "option" and option in refused:
            for name in value.replace(" ", ",").split(","):
                if name == ":none:":
                    refused[option].clear()
                elif name:
                    refused[option].append(name if name == ":all:" else normalize(name))
    no_binary, no_build = (tuple(dict.fromkeys(names)) for names in refused.values())
    return no_binary, no_build


def _set(reader: _Reader) -> RequirementSet:
    return RequirementSet(
        lines=tuple(reader.entries),
        files=tuple(reader.files),
        variables=tuple(sorted(reader.variables)),
        base=reader.base,
    )


def _outside_userinfo(text: str, names: Iterable[str]) -> set[str]:
    """Return the variables that are more than a credential: rotating one must change nothing."""
    plain = re.sub(r"(://)[^/\s@]*@", r"\1", text)
    return {name for name in names if f"${{{name}}}" in plain}


def _option(line: Line) -> tuple[str, str]:
    try:
        words = shlex.split(line.text)
    except ValueError as error:
        raise RequirementsUnreadable(f"not to be read: {line.text!r} ({error})", where=line.where) from error
    first, rest = words[0], " ".join(words[1:])
    if first.startswith("--"):
        name, equals, value = first.partition("=")
        rest = f"{value} {rest}".strip() if equals else rest
    else:
        name = _VALUED.get(first[:2], first[:2])
        rest = f"{first[2:]} {rest}".strip()
    if name in _SWITCHES and not rest:
        return name, ""
    if name in _OPTIONS and rest:
        return name, rest
    near = nearest(name, _OPTIONS | _SWITCHES)
    known = name in _OPTIONS | _SWITCHES
    what = f"{name} needs a value" if name in _OPTIONS else f"unknown option {first!r}"
    raise RequirementsUnreadable(
        what, where=line.where, todo=f"did you mean {near}?" if near and not known else None
    )


def _requirement(line: Line, base: str, *, constraint: bool, editable: bool = False) -> Entry:
    kind = "constraint" if constraint else "requirement"
    text = _PER_REQUIREMENT.sub("", line.text)
    local = _LOCAL.fullmatch(text)
    if local is not None:
        extras = tuple(normalize(e.strip()) for e in (local["extras"] or "[]")[1:-1].split(",") if e.strip())
        path = _path(local["place"], base)
        return Entry(line=line, kind=kind, extras=extras, editable=editable, path=path)
    if _REMOTE.match(text) or (editable and os.path.isdir(os.path.join(base, text))):
        place = None if _REMOTE.match(text) else _path(text, base)
        return Entry(line=line, kind=kind, editable=editable, path=place)
    try:
        parsed = Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise RequirementsUnreadable(f"{text!r} is no requirement: {reason}", where=line.where) from error
    url = parsed.url
    local_url = url is not None and (not _REMOTE.match(url) or url.startswith("file:"))
    return Entry(
        line=line,
        kind=kind,
        name=normalize(parsed.name),
        extras=tuple(sorted(normalize(extra) for extra in parsed.extras)),
        editable=editable,
        path=_path(url, base) if url is not None and local_url else None,
    )


def _path(place: str, base: str) -> str:
    if place.startswith("file:"):
        place = unquote(urlsplit(place).path)
    return os.path.normpath(os.path.join(base, os.path.expanduser(place.strip())))
