"""Turn the packages of ``uv.lock`` that were selected into locked data."""

from __future__ import annotations

import os
from urllib.parse import parse_qs, unquote, urlsplit

from greenroom.locks import credentials
from greenroom.locks.model import Commit, Directory, File, Locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.locks.uvlock import Table

__all__ = ["commit_of", "file_name", "locked"]

_LOCAL = ("editable", "directory", "virtual")


def locked(package: Table, root: str) -> Locked:
    """Return one package of a lock.

    :param root: the directory that the lock's relative paths are relative to.
    :raises KeyError, TypeError: the entry has another shape than uv's.
    """
    source, version = package["source"], package.get("version")
    name = package["name"]
    if "registry" in source:
        return _from_index(package, source["registry"], root)
    if "git" in source:
        return Locked(name=name, version=version, commit=commit_of(source["git"]))
    if "url" in source or "path" in source:
        return _from_archive(package, source, root)
    for kind in _LOCAL:
        if kind in source:
            directory = Directory(
                path=os.path.normpath(os.path.join(root, source[kind])),
                editable=kind == "editable",
                virtual=kind == "virtual",
            )
            return Locked(name=name, version=version, directory=directory)
    msg = f"package {name} has a source of an unknown kind"
    raise TypeError(msg)


def commit_of(url: str) -> Commit:
    """Return the commit that a lock's git URL pins: ``url?rev=…&subdirectory=…#commit``.

    :raises TypeError: it pins none.
    """
    parts = urlsplit(url)
    if not parts.fragment:
        msg = f"the git source {credentials.strip(url)} has no commit"
        raise TypeError(msg)
    subdirectory = parse_qs(parts.query).get("subdirectory", [None])[0]
    place = credentials.strip(url.split("#", 1)[0].split("?", 1)[0])
    return Commit(url=place.removeprefix("git+"), commit=parts.fragment, subdirectory=subdirectory)


def file_name(location: str) -> str:
    """Return the file name of a URL or path."""
    if "://" not in location:
        return os.path.basename(location)
    return unquote(location.split("#", 1)[0].split("?", 1)[0].rsplit("/", 1)[-1])


def _from_index(package: Table, registry: str, root: str) -> Locked:
    remote = "://" in registry
    index = credentials.strip(registry) if remote else os.path.normpath(os.path.join(root, registry))
    base = root if remote else index
    sdist = package.get("sdist")
    return Locked(
        name=package["name"],
        version=package.get("version"),
        index=index,
        wheels=tuple(_file(table, base) for table in package.get("wheels", ())),
        sdist=_file(sdist, base) if sdist else None,
    )


def _from_archive(package: Table, source: Table, root: str) -> Locked:
    place = source.get("url") or os.path.normpath(os.path.join(root, source["path"]))
    table: Table = package.get("sdist") or next(iter(package.get("wheels", ())), {})
    subdirectory = source.get("subdirectory")
    if "://" in place:
        place, _, fragment = credentials.strip(place).partition("#")
        for part in fragment.split("&"):
            if part.startswith("subdirectory="):
                subdirectory = part.removeprefix("subdirectory=")
    archive = File(
        name=table.get("filename") or file_name(place),
        location=place,
        sha256=_sha256(table.get("hash")),
        size=table.get("size"),
    )
    return Locked(
        name=package["name"],
        version=package.get("version"),
        archive=archive,
        archive_subdirectory=subdirectory,
    )


def _file(table: Table, base: str) -> File:
    location = table.get("url") or table.get("path") or table["filename"]
    if "://" not in location:
        location = os.path.normpath(os.path.join(base, location))
    return File(
        name=table.get("filename") or file_name(location),
        location=credentials.strip(location),
        sha256=_sha256(table.get("hash")),
        size=table.get("size"),
    )


def _sha256(value: str | None) -> str | None:
    return value.removeprefix("sha256:") if value and value.startswith("sha256:") else None
