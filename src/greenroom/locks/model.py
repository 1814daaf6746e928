"""Locked data: every distribution pinned with its files, for all platforms (PEP 751's words)."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.components import Pairs

__all__ = ["BuildSettings", "Commit", "Directory", "File", "Locked", "Selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One wheel, sdist or archive of a distribution."""

    name: str
    """File name, as in the index."""
    location: str
    """URL, or absolute path of a local file."""
    sha256: str | None
    """None only where the lock has no hash (uv: a direct URL that was never read)."""
    size: int | None = None
    """Bytes, when the lock says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A version-control source, pinned."""

    url: str
    """Without credentials, without ``git+`` and fragments."""
    commit: str
    """Full commit id."""
    subdirectory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """A local source: the project, a workspace member or a path source."""

    path: str
    """Absolute; need not exist (an image's dependency layer has none)."""
    editable: bool
    subdirectory: str | None = None
    virtual: bool = False
    """A project without a build system: nothing of it is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """One distribution that an environment is to contain, still with all its files."""

    name: str
    """Normalized (PEP 503)."""
    version: str | None
    """None for local sources whose version is dynamic."""
    index: str | None = None
    """The index's URL, without credentials."""
    wheels: tuple[File, ...] = ()
    sdist: File | None = None
    archive: File | None = None
    """A direct URL or local file: a wheel or a source archive by its name."""
    archive_subdirectory: str | None = None
    commit: Commit | None = None
    directory: Directory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings:
    """A source's own settings that decide what a build gives (from ``[tool.uv]`` or ``uv.toml``)."""

    no_build_isolation: tuple[str, ...] = ()
    """Normalized package names."""
    extra_build_requires: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    """Package -> (requirement, whether its version is the environment's own)."""
    extra_build_variables: tuple[tuple[str, Pairs], ...] = ()
    config_settings: tuple[tuple[str, str], ...] = ()
    """Settings for every build: name -> value as JSON."""
    config_settings_package: tuple[tuple[str, Pairs], ...] = ()
    build_constraints: tuple[str, ...] = ()
    no_binary: tuple[str, ...] = ()
    """Packages whose wheels are not to be used (``:all:`` for every one)."""
    no_build: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a lock gives for one environment on one target: markers are evaluated."""

    distributions: tuple[Locked, ...]
    """Sorted by name; names are unique."""
    settings: BuildSettings
    files: tuple[str, ...]
    """Every file that was read for it."""
    notes: tuple[str, ...] = ()
    """What cannot be known here and is worth one line: members whose sources are absent."""
