"""Make the recipe of one environment from its lock: choose the one file of each distribution."""

from __future__ import annotations

import os
from dataclasses import dataclass

from greenroom.errors import MissingHash, NoMatchingFile
from greenroom.locks.settings import ALL
from greenroom.locks.uvlock import normalize
from greenroom.recipes import local
from greenroom.recipes.building import finished, python_of, variables_of
from greenroom.recipes.choosing import best_wheel, tags_of
from greenroom.recipes.model import (
    Build,
    BuildInputs,
    Content,
    Distribution,
    Editable,
    Late,
    Origins,
    Recipe,
    Supply,
    Wheel,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.model import BuildSettings, Directory, File, Locked, Selection

__all__ = ["make"]

_SOURCES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tar", ".zip")


def make(
    spec: EnvironmentSpec, selection: Selection, interpreter: Interpreter, environ: Mapping[str, str]
) -> tuple[Recipe, Supply]:
    """Return the recipe and what the builder needs beside it.

    :param environ: the caller's variables: those that ``build-env`` names without a value are taken.
    :raises NoMatchingFile: a distribution has neither a wheel for the target nor a source.
    :raises MissingHash: a chosen file has no sha256 in the lock.
    :raises BuildOrderLoop: packages built without isolation need each other.
    :raises BuildNeedsRuntime: a build follows a package that the environment has not.
    """
    choice = _Choice(spec=spec, settings=selection.settings, interpreter=interpreter)
    chosen = [made for one in selection.distributions if (made := choice.of(one)) is not None]
    distributions = finished(
        [one.distribution for one in chosen],
        {one.distribution.name for one in chosen if one.place is not None},
        spec=spec,
        settings=selection.settings,
        interpreter=interpreter,
        environ=environ,
    )
    recipe = Recipe(
        python=python_of(interpreter),
        distributions=distributions,
        post_install=spec.options.post_install,
        last=_present(spec.options.allow_clash, distributions),
        bytecode=spec.options.compile_bytecode,
    )
    return recipe, _supply(spec, selection, chosen, environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    distribution: Distribution
    """A build has no inputs yet."""
    origins: Origins
    place: str | None = None
    """The resolved directory of a local source that is to be installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """What decides the choice of files, beside the lock."""

    spec: EnvironmentSpec
    settings: BuildSettings
    interpreter: Interpreter

    def of(self, one: Locked) -> _Chosen | None:
        """Return what is chosen for one distribution; None when nothing of it is installed."""
        options = self.spec.options
        if one.name in {normalize(name) for name in options.late_packages}:
            return _chosen(one, Late(), Origins(name=one.name, directory=one.directory, index=one.index))
        if one.directory is not None:
            return self._local(one, one.directory) if options.install_local else None
        if one.commit is not None:
            build = _build(f"git:{one.commit.commit}", one.commit.subdirectory)
            return _chosen(one, build, Origins(name=one.name, commit=one.commit))
        if one.archive is not None and not one.archive.name.endswith(".whl"):
            return self._source(one, one.archive, one.archive_subdirectory)
        wheels = (one.archive,) if one.archive is not None else one.wheels
        wheel = best_wheel(wheels, self.interpreter.tags) if self._may(one, self.settings.no_binary) else None
        if wheel is not None:
            content = Wheel(file=wheel.name, sha256=self._sha256(one, wheel))
            return _chosen(one, content, Origins(name=one.name, file=wheel, index=one.index))
        if one.sdist is not None:
            return self._source(one, one.sdist, None)
        raise self._nothing(one, wheels)

    @staticmethod
    def _local(one: Locked, directory: Directory) -> _Chosen | None:
        if directory.virtual:
            return None
        place = os.path.realpath(os.path.join(directory.path, directory.subdirectory or ""))
        content = (
            Editable(path=place) if directory.editable else _build(f"tree:{local.tree_digest(place)}", None)
        )
        distribution = Distribution(name=one.name, version=None, content=content)
        return _Chosen(
            distribution=distribution, origins=Origins(name=one.name, directory=directory), place=place
        )

    def _source(self, one: Locked, file: File, subdirectory: str | None) -> _Chosen:
        if not self._may(one, self.settings.no_build):
            raise self._nothing(one, one.wheels, "its source may not be built (no-build)")
        if not file.name.endswith(_SOURCES):
            raise self._nothing(one, one.wheels, f"{file.name} is neither a wheel nor a source archive")
        content = _build(f"sha256:{self._sha256(one, file)}", subdirectory)
        return _chosen(one, content, Origins(name=one.name, file=file, index=one.index))

    @staticmethod
    def _may(one: Locked, refused: tuple[str, ...]) -> bool:
        return ALL not in refused and one.name not in refused

    def _sha256(self, one: Locked, file: File) -> str:
        if file.sha256 is not None:
            return file.sha256
        found = local.file_digest(file.location) if os.path.isabs(file.location) else ""
        if not found:  # a folder of wheels has no hashes, but there the file itself can be read
            raise MissingHash(one.name, one.version, file=file.name, where=str(self.spec.origin))
        return found

    def _nothing(self, one: Locked, wheels: tuple[File, ...], why: str = "") -> NoMatchingFile:
        python = self.interpreter
        if not why and wheels and not self._may(one, self.settings.no_binary):
            why = "its wheels may not be used (no-binary) and the lock has no source"
        return NoMatchingFile(
            one.name,
            one.version,
            tags=tags_of(wheels),
            target=f"{python.implementation} {python.version} on {python.platform}",
            where=str(self.spec.origin),
            why=why,
        )


def _chosen(one: Locked, content: Content, origins: Origins) -> _Chosen:
    return _Chosen(
        distribution=Distribution(name=one.name, version=one.version, content=content), origins=origins
    )


def _build(source: str, subdirectory: str | None) -> Build:
    return Build(source=source, subdirectory=subdirectory, inputs=BuildInputs())


def _present(names: tuple[str, ...], distributions: tuple[Distribution, ...]) -> tuple[str, ...]:
    there = {one.name for one in distributions}
    wanted = (normalize(name) for name in names)
    return tuple(dict.fromkeys(name for name in wanted if name in there))


def _supply(
    spec: EnvironmentSpec, selection: Selection, chosen: list[_Chosen], environ: Mapping[str, str]
) -> Supply:
    metadata: list[tuple[str, str]] = []
    files: list[str] = []
    names: list[str] = []
    absent: dict[bool, list[str]] = {True: [], False: []}
    for one in chosen:
        file = one.origins.file
        if file is not None and file.sha256 is None:
            files.append(file.location)
        place, name = one.place, one.distribution.name
        if place is None:
            continue
        names.append(name)
        editable = isinstance(one.distribution.content, Editable)
        if editable:
            metadata.append((name, local.metadata_digest(place)))
        files.extend((place, *local.metadata_files(place)) if editable else local.tree_files(place))
        if not os.path.isdir(place):
            absent[editable].append(f"{name} ({place})")
    return Supply(
        origins=tuple(one.origins for one in chosen),
        settings=selection.settings,
        indexes=spec.options.indexes,
        link_mode=spec.options.link_mode,
        smoke=spec.options.smoke,
        local=tuple(names),
        metadata=tuple(metadata),
        files=tuple(dict.fromkeys(files)),
        build_env=variables_of(spec, environ),
        notes=(*selection.notes, *_notes(absent)),
    )


def _notes(absent: Mapping[bool, list[str]]) -> Iterator[str]:
    """Yield what to say about local sources that are absent, editable ones and others."""
    if absent[True]:
        yield f"sources to be built in when they are there: {', '.join(absent[True])}"
    if absent[False]:
        yield f"sources whose content decides the key and which are absent: {', '.join(absent[False])}"
