"""Take a requirement of the host project by relative path for its installed version, where it is no checkout.

Servers that live in their host's repository require it by path (``-e host[dev] @ ../../``). Where the
host came from an index there is nothing to install at that path, and the line means the version that
the driver has, with the same extras. In a checkout it stays what it says.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from glob import escape, glob

from packaging.requirements import Requirement

from greenroom.errors import HostVersionUnknown
from greenroom.locks import settings
from greenroom.locks.lines import Line
from greenroom.locks.uvlock import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import Host
    from greenroom.locks.requirements import Entry, RequirementSet

__all__ = ["Instead", "applied", "instead_of_source"]

_METADATA = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)\.dist-info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instead:
    """What stands for the host where its checkout is not there."""

    name: str
    """Normalized."""
    requirement: str
    """``host==0.7.0``."""
    watched: tuple[str, ...]
    """Files whose stat decides it, absent ones included."""


def applied(found: RequirementSet, host: Host | None, environ: Mapping[str, str]) -> RequirementSet:
    """Return what requirements files say with the host rule applied; ``found`` itself where nothing changes.

    :param environ: the caller's variables; ``GREENROOM_DRIVER`` names whose version counts.
    :raises HostVersionUnknown: a line needs the host's version, and none is declared or installed.
    """
    if host is None or not any(_means(entry, host) for entry in found.lines):
        return found
    lines, watched = [], list(found.watched)
    for entry in found.lines:
        if not _means(entry, host) or entry.path is None:
            lines.append(entry)
            continue
        instead = _instead(host, entry.path, environ, entry.line.where)
        watched.extend(instead.watched)
        lines.append(_rewritten(entry, host, instead))
    return replace(found, lines=tuple(lines), watched=tuple(dict.fromkeys(watched)))


def instead_of_source(directory: str, host: Host | None, environ: Mapping[str, str]) -> Instead | None:
    """Return what stands for the host in a local project whose own sources name its checkout by path.

    :param directory: the local project's.
    :returns: None: the project has no such source, or the checkout is there.
    :raises HostVersionUnknown: as :func:`applied`.
    :raises LockUnreadable, SecretInSource: its ``pyproject.toml`` is at fault.
    """
    if host is None or not os.path.isdir(directory):
        return None
    file = os.path.join(directory, "pyproject.toml")
    for package, said in settings.section(settings.table(file), "tool", "uv", "sources").items():
        for one in said if isinstance(said, list) else [said]:
            if normalize(package) == host.name and isinstance(one, dict) and isinstance(one.get("path"), str):
                place = os.path.normpath(os.path.join(directory, one["path"]))
                if not _is_checkout(place, host):
                    return _instead(host, place, environ, file)
    return None


def _means(entry: Entry, host: Host) -> bool:
    """Tell whether a line requires the host by a path at which it is not."""
    if entry.path is None or (entry.name is None and entry.path != host.path):
        return False
    if entry.name is None:
        return not any(
            os.path.isfile(os.path.join(entry.path, name)) for name in ("pyproject.toml", "setup.py")
        )
    return entry.name == host.name and not _is_checkout(entry.path, host)


def _is_checkout(path: str, host: Host) -> bool:
    project = settings.table(os.path.join(path, "pyproject.toml"))
    if project is None:
        return os.path.isfile(os.path.join(path, "setup.py"))
    name = settings.section(project, "project").get("name")
    return not isinstance(name, str) or normalize(name) == host.name


def _rewritten(entry: Entry, host: Host, instead: Instead) -> Entry:
    marker = ""
    if entry.name is not None:
        said = Requirement(entry.line.text).marker
        marker = f" ; {said}" if said else ""
    elif ";" in entry.line.text:
        marker = f" ; {entry.line.text.split(';', 1)[1].strip()}"
    extras = f"[{','.join(entry.extras)}]" if entry.extras else ""
    text = f"{host.name}{extras}{instead.requirement.removeprefix(host.name)}{marker}"
    line = Line(text=text, file=entry.line.file, number=entry.line.number)
    return replace(entry, line=line, name=host.name, editable=False, path=None)


def _instead(host: Host, path: str, environ: Mapping[str, str], where: str) -> Instead:
    checkout = tuple(os.path.join(path, name) for name in ("pyproject.toml", "setup.py"))
    if host.version is not None:
        version = host.version.strip()
        specifier = f"=={version}" if version[:1].isdigit() else version
        return Instead(name=host.name, requirement=f"{host.name}{specifier}", watched=checkout)
    driver = environ.get("GREENROOM_DRIVER") or host.driver
    for directory in _directories(driver):
        found = _installed(host.name, directory, _time(directory))
        if found is not None:
            version, metadata = found
            return Instead(
                name=host.name, requirement=f"{host.name}=={version}", watched=(*checkout, metadata)
            )
    raise HostVersionUnknown(host.name, path, driver or sys.executable, where=where)


def _directories(driver: str | None) -> list[str]:
    """Return where the driver's packages are: those of its own environment, where it is another one."""
    if driver is None:
        return sys.path
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(os.path.expanduser(driver))))
    return sorted(glob(f"{escape(prefix)}/lib*/python3.*/*-packages"))


def _time(directory: str) -> int | None:
    try:
        return os.stat(directory).st_mtime_ns
    except OSError:
        return None


@lru_cache(maxsize=64)
def _installed(name: str, directory: str, time: int | None) -> tuple[str, str] | None:
    """Return the version of a distribution and its metadata's file; ``time`` tells when to look again."""
    if time is None or not os.path.isdir(directory):
        return None
    for entry in sorted(os.listdir(directory)):
        found = _METADATA.fullmatch(entry)
        if found is not None and normalize(found["name"]) == name:
            return found["version"], os.path.join(directory, entry, "METADATA")
    return None
