"""Bring a source to the place where it is built: checked, complete, and nobody else's."""

from __future__ import annotations

import os
import tarfile
import zipfile
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from greenroom.builder.commits import check_out
from greenroom.builder.copying import copy_tree
from greenroom.builder.fetching import sha256_of
from greenroom.errors import BuildFailed, FetchFailed, HashMismatch, NotCached, SourceChanged, SourceMissing
from greenroom.recipes import local

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.builder.workplace import Workplace
    from greenroom.locks.model import Directory, File
    from greenroom.recipes.model import Build, Origins

__all__ = ["bring", "local_path"]


def bring(place: Workplace, build: Build, origin: Origins, folder: str, variables: Mapping[str, str]) -> str:
    """Return the path of an sdist or a source directory below ``folder``, or of a checked local sdist.

    A local directory is copied: a build leaves its litter in the copy, and neither an edit during the
    build nor an older build's leftovers come into the wheel.

    :param folder: a private directory.
    :param variables: the environment for git.
    :raises BuildFailed: the source cannot be had, or is another one than the recipe's.
    """
    kind, _, digest = build.source.partition(":")
    if kind == "git" and origin.commit is not None:
        target = os.path.join(folder, "checkout")
        check_out(place, origin.commit, target, variables)
        return _inside(place, target, build.subdirectory)
    if kind == "tree" and origin.directory is not None:
        target = os.path.join(folder, "source")
        _copied(place, origin.directory, target, digest)
        return target
    if kind == "sha256" and origin.file is not None:
        return _archive(place, build, origin, origin.file, folder)
    raise place.failing(f"nothing says where the source of {origin.name} is ({build.source})")


def local_path(location: str) -> str | None:
    """Return the absolute path of a file on this machine, None for one on the network."""
    if os.path.isabs(location):
        return location
    parts = urlsplit(location)
    return unquote(parts.path) if parts.scheme == "file" else None


def _copied(place: Workplace, directory: Directory, target: str, digest: str) -> None:
    path = os.path.realpath(os.path.join(directory.path, directory.subdirectory or ""))
    if not os.path.isdir(path):
        raise place.failing(f"the source directory {path} is not there", SourceMissing)
    copy_tree(path, target)
    if local.tree_digest(path) != digest:  # by the stat of what was copied, after the copy
        what = f"{path} was changed while it was to be built"
        raise place.failing(what, SourceChanged, "run the command again")


def _archive(place: Workplace, build: Build, origin: Origins, file: File, folder: str) -> str:
    digest = build.source.partition(":")[2]
    path = local_path(file.location)
    if path is None:
        path = os.path.join(folder, os.path.basename(file.name))
        _fetched(place, origin, file, path, digest)
    else:
        _checked(place, path, digest)
    if build.subdirectory is None and path.endswith(".tar.gz"):
        return path
    return _inside(place, _unpacked(place, path, os.path.join(folder, "source")), build.subdirectory)


def _fetched(place: Workplace, origin: Origins, file: File, target: str, digest: str) -> None:
    if place.run.offline:
        what = f"{file.name} of {origin.name} was never built here, and its source is on the network"
        raise place.failing(what, NotCached, "run it once without --offline")
    place.enter("download", file.name)
    place.run.fetcher.fetch(
        file.location,
        target,
        sha256=digest,
        failing=place.failing,
        indexes=place.job.supply.indexes,
        index=origin.index,
    )


def _checked(place: Workplace, path: str, digest: str) -> None:
    try:
        found = sha256_of(path)
    except FileNotFoundError as error:
        raise place.failing(f"{path} is not there", SourceMissing) from error
    if found != digest:
        raise place.failing(
            f"{path}: the lock pins sha256 {digest}, this is {found}", HashMismatch, "lock anew"
        )


def _unpacked(place: Workplace, archive: str, target: str) -> str:
    os.mkdir(target)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(target)  # noqa: S202 - zipfile keeps names inside by itself
        else:
            with tarfile.open(archive) as tarred:
                if hasattr(tarfile, "data_filter"):
                    tarred.extraction_filter = tarfile.data_filter  # nothing outside of the target
                tarred.extractall(target)  # noqa: S202 - kept inside by the filter above
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise place.failing(
            f"{os.path.basename(archive)} cannot be unpacked: {error}", FetchFailed
        ) from error
    entries = os.listdir(target)
    only = os.path.join(target, entries[0]) if len(entries) == 1 else target
    return only if os.path.isdir(only) else target


def _inside(place: Workplace, directory: str, subdirectory: str | None) -> str:
    path = os.path.normpath(os.path.join(directory, subdirectory or "."))
    if os.path.commonpath([directory, path]) != directory or not os.path.isdir(path):
        raise place.failing(f"the source has no directory {subdirectory}", BuildFailed)
    return path
