"""Put a recipe's distributions into a private environment, in the order that they need."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from greenroom.builder import chains, privatelock, wheelrecords, wheels
from greenroom.builder.fetching import sha256_of
from greenroom.builder.privatelock import Chosen
from greenroom.errors import LateMissing, SourceMissing, WrongWheel
from greenroom.recipes.model import Build, Editable, Late, Wheel
from greenroom.uv import commands, settings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from greenroom.builder.wheelrecords import WheelRecord
    from greenroom.builder.workplace import Workplace
    from greenroom.components import Pairs
    from greenroom.errors import BuildFailed
    from greenroom.recipes.model import Distribution, Origins

__all__ = ["Installer"]


class Installer:
    """One attempt to fill an environment.

    First come all wheels, those built with isolation among them; then, one by one, the builds that
    see the environment; then packages that win a clash of files, those of a later image stage, and the
    local sources that are installed in place.

    :param environment: the private environment's directory; made by :meth:`install`.
    :param anew: distributions that uv's cache has damaged. They are fetched into a private cache:
        uv's own ``--refresh`` asks the index whether the file changed, and when it did not, takes the
        damaged files again.
    """

    def __init__(self, place: Workplace, environment: str, *, anew: tuple[str, ...] = ()) -> None:
        self._place = place
        self._environment = environment
        self._anew = anew
        self._python = os.path.join(environment, "bin", "python")
        self._variables = settings.variables(place.run.environ)
        text = settings.config_text(place.run.transport, place.job.supply.indexes)
        self._config = place.write("uv.toml", text)
        self._private = self._variables | {"UV_CACHE_DIR": os.path.join(place.folder, "cache")}
        self._locks = 0
        self._digests: dict[str, str] = {}

    def install(self) -> Pairs:
        """Make the environment and fill it.

        :returns: distribution -> sha256 of its wheel, for what is no wheel of an index.
        :raises BuildFailed: a source, a build or an install failed.
        """
        recipe = self._place.job.recipe
        everything = zip(recipe.distributions, self._place.job.supply.origins, strict=True)
        pairs = tuple(pair for pair in everything if pair[0].name not in self._place.job.pending)
        ready, chained = self._ready_and_chained(pairs)
        self._place.enter("install", _count(len(pairs), "distribution"))
        self._place.uv(
            commands.venv(self._environment, python=self._place.job.interpreter.path, config=self._config),
            variables=self._variables,
        )
        winners = {name: chosen for name, chosen in ready.items() if name in recipe.last}
        self._fill(chosen for name, chosen in ready.items() if name not in winners)
        for distribution, origin in chained:
            record = wheels.obtain(self._place, distribution, origin, self._python)
            chosen = self._built(distribution, record)
            if distribution.name in recipe.last:
                winners[distribution.name] = chosen
            self._add_one(chosen)
        for name in recipe.last:
            if name in winners:
                self._add_one(winners[name], reinstall=True)
        self._late(distribution for distribution, _ in pairs if isinstance(distribution.content, Late))
        self._editable(pairs)
        return tuple(sorted(self._digests.items()))

    def resume(self, brought: Collection[str]) -> Pairs:
        """Add distributions to a partial environment: nothing that is there is touched.

        :param brought: names of distributions that it lacks.
        :returns: as :meth:`install`.
        :raises BuildFailed: a source, a build or an install failed.
        """
        everything = zip(self._place.job.recipe.distributions, self._place.job.supply.origins, strict=True)
        pairs = tuple(pair for pair in everything if pair[0].name in brought)
        ready, chained = self._ready_and_chained(pairs)
        self._place.enter("install", f"{_count(len(pairs), 'distribution')} more")
        self._add(list(ready.values()))
        for distribution, origin in chained:
            record = wheels.obtain(self._place, distribution, origin, self._python)
            self._add_one(self._built(distribution, record))
        self._late(distribution for distribution, _ in pairs if isinstance(distribution.content, Late))
        self._editable(pairs)
        return tuple(sorted(self._digests.items()))

    def _ready_and_chained(
        self, pairs: tuple[tuple[Distribution, Origins], ...]
    ) -> tuple[dict[str, Chosen], list[tuple[Distribution, Origins]]]:
        """Return what can be installed at once, its builds done, and the chain of the others."""
        ready: dict[str, Chosen] = {}
        chained = []
        for distribution, origin in pairs:
            content = distribution.content
            if isinstance(content, Wheel):
                ready[distribution.name] = _of_index(distribution, content, origin)
            elif isinstance(content, Build):
                record = wheels.stored(self._place, content)
                if record is None and not content.inputs.isolated:
                    chained.append((distribution, origin))
                    continue
                base = self._place.job.interpreter.path
                record = record or wheels.obtain(self._place, distribution, origin, base)
                ready[distribution.name] = self._built(distribution, record)
        return ready, list(chains.in_order(chained))

    def _built(self, distribution: Distribution, record: WheelRecord) -> Chosen:
        self._digests[distribution.name] = record.sha256
        return Chosen(
            name=distribution.name,
            version=record.file.split("-")[1],
            file=record.file,
            location=wheelrecords.path_of(self._place.run.store, record),
            sha256=record.sha256,
        )

    def _fill(self, chosen: Iterable[Chosen]) -> None:
        """Install what comes first; anew what uv's cache has damaged."""
        everything = list(chosen)
        damaged = [item for item in everything if item.name in self._anew]
        if damaged:
            self._place.uv(self._synced(damaged), variables=self._private)
            self._add([item for item in everything if item.name not in self._anew])
        else:
            self._place.uv(self._synced(everything), variables=self._variables)

    def _synced(self, chosen: Iterable[Chosen]) -> tuple[str, ...]:
        return commands.pip_sync(
            self._place.write("pylock.toml", privatelock.text(chosen)),
            python=self._python,
            config=self._config,
            link_mode=self._place.job.supply.link_mode,
            offline=self._place.run.offline,
        )

    def _add(self, chosen: list[Chosen], *, reinstall: bool = False) -> None:
        """Install further wheels; ``reinstall`` puts a wheel's files over another owner's."""
        if not chosen:
            return
        self._locks += 1
        lock = self._place.write(f"pylock.more{self._locks}.toml", privatelock.text(chosen))
        arguments = commands.pip_install(
            (),
            locks=(lock,),
            python=self._python,
            config=self._config,
            link_mode=self._place.job.supply.link_mode,
            offline=self._place.run.offline,
            reinstall=reinstall,
        )
        damaged = all(item.name in self._anew for item in chosen)
        self._place.uv(arguments, variables=self._private if damaged else self._variables)

    def _add_one(self, chosen: Chosen, *, reinstall: bool = False) -> None:
        self._place.enter("install", f"{chosen.name} {chosen.version}")
        self._add([chosen], reinstall=reinstall)

    def _late(self, distributions: Iterable[Distribution]) -> None:
        named = [f"{item.name}=={item.version}" for item in distributions]
        if not named:
            return
        directory = self._place.job.late_wheels
        if directory is None:
            what = f"{', '.join(named)}: a later image stage brings it, and its wheel is not here"
            todo = "greenroom image sync --stage NAME --find-links DIR, where the wheel is"
            raise self._place.failing(what, LateMissing, todo)
        self._place.enter("install", ", ".join(named))
        digests = _digests_of(directory, named)
        for name, _, version in (entry.partition("==") for entry in named):
            if name not in digests:
                raise self._absent(name, version, directory)
        self._place.uv(
            commands.pip_install_late(
                named,
                python=self._python,
                config=self._config,
                find_links=directory,
                link_mode=self._place.job.supply.link_mode,
            ),
            variables=self._variables,
        )
        self._digests |= digests

    def _absent(self, name: str, version: str, directory: str) -> BuildFailed:
        """Return the error for a late package of which the directory has no wheel, or another one."""
        others = sorted(file for file in _files(directory) if _name_of(file) == name)
        if others:
            what = f"{name} {version} is locked, and {directory} holds {', '.join(others)}"
            return self._place.failing(what, WrongWheel, f"build {name} {version}, or lock the other one")
        what = f"{directory} holds no wheel of {name} {version}"
        return self._place.failing(what, LateMissing, "put it there, or name another directory")

    def _editable(self, pairs: tuple[tuple[Distribution, Origins], ...]) -> None:
        """Install local sources in place: the last step, because only they need the sources."""
        found = []
        for distribution, _ in pairs:
            if isinstance(distribution.content, Editable):
                found.append((distribution.name, self._present(distribution.name, distribution.content)))
        if not found:
            return
        self._place.enter("install", _count(len(found), "local source"))
        self._place.uv(
            commands.pip_install(
                (),
                # In a lock, because a path among uv's arguments is read as a requirement or a URL.
                locks=(self._place.write("pylock.local.toml", privatelock.text(editable=found)),),
                python=self._python,
                config=self._build_config(),
                link_mode=self._place.job.supply.link_mode,
                offline=self._place.run.offline,
                refresh=[name for name, _ in found],
            ),
            variables=self._variables | self._declared(),
        )

    def _present(self, name: str, content: Editable) -> str:
        if not os.path.isdir(content.path):
            what = f"the local source {name} is not at {content.path}"
            raise self._place.failing(what, SourceMissing, "install-local = false leaves local sources out")
        if "\n" in content.path or "\r" in content.path:
            what = f"{content.path!r} holds a line break, and a .pth file has one path on each line"
            raise self._place.failing(what, todo="move it, or do not install it editable")
        return content.path

    def _build_config(self) -> str:
        """Write the settings for building what is installed in place; which files are chosen is settled."""
        own = replace(self._place.job.supply.settings, no_binary=(), no_build=())
        run, supply = self._place.run, self._place.job.supply
        return self._place.write("uv.local.toml", settings.config_text(run.transport, supply.indexes, own))

    def _declared(self) -> dict[str, str]:
        return {name: value for name, value in self._place.job.supply.build_env if value is not None}


def _of_index(distribution: Distribution, wheel: Wheel, origin: Origins) -> Chosen:
    assert origin.file is not None  # noqa: S101 - a recipe's wheel always comes from a file
    return Chosen(
        name=distribution.name,
        version=distribution.version or wheel.file.split("-")[1],
        file=wheel.file,
        location=origin.file.location,
        sha256=wheel.sha256,
        index=origin.index,
    )


def _digests_of(directory: str, named: Iterable[str]) -> dict[str, str]:
    """Return the digests of the wheels in a directory that have these names and versions."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename  # noqa: PLC0415 - heavy
    from packaging.version import Version  # noqa: PLC0415 - heavy

    wanted = {name: Version(version) for name, _, version in (entry.partition("==") for entry in named)}
    found = {}
    for file in _files(directory):
        try:
            name, version, _, _ = parse_wheel_filename(file)
        except InvalidWheelFilename:
            continue
        if wanted.get(name) == version:
            found[str(name)] = sha256_of(os.path.join(directory, file))
    return found


def _files(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _name_of(file: str) -> str:
    """Return the normalized name that a wheel's file name begins with."""
    return file.partition("-")[0].lower().replace("_", "-").replace(".", "-") if file.endswith(".whl") else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
