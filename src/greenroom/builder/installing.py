"""Put a recipe's distributions into a private environment, in the order that they need."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from greenroom.builder import privatelock, wheelrecords, wheels
from greenroom.builder.privatelock import Chosen
from greenroom.errors import LateMissing, SourceMissing
from greenroom.recipes.model import Build, Editable, Late, Wheel
from greenroom.uv import commands, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from greenroom.builder.wheelrecords import WheelRecord
    from greenroom.builder.workplace import Workplace
    from greenroom.components import Pairs
    from greenroom.recipes.model import Distribution, Origins

__all__ = ["Installer"]


class Installer:
    """One attempt to fill an environment.

    First come all wheels, those built with isolation among them; then, one by one, the builds that
    see the environment; then packages that win a clash of files, those of a later image stage, and the
    local sources that are installed in place.

    :param environment: the private environment's directory; made by :meth:`install`.
    :param refresh: distributions for which uv's cache is not trusted.
    """

    def __init__(self, place: Workplace, environment: str, *, refresh: tuple[str, ...] = ()) -> None:
        self._place = place
        self._environment = environment
        self._refresh = refresh
        self._python = os.path.join(environment, "bin", "python")
        self._variables = settings.variables(place.run.environ)
        text = settings.config_text(place.run.transport, place.job.supply.indexes)
        self._config = place.write("uv.toml", text)
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
        self._place.enter("install", f"{len(pairs)} distributions")
        self._place.uv(
            commands.venv(self._environment, python=self._place.job.interpreter.path, config=self._config),
            variables=self._variables,
        )
        winners = {name: chosen for name, chosen in ready.items() if name in recipe.last}
        self._sync(chosen for name, chosen in ready.items() if name not in winners)
        for distribution, origin in chained:
            record = wheels.obtain(self._place, distribution, origin, self._python)
            chosen = self._built(distribution, record)
            if distribution.name in recipe.last:
                winners[distribution.name] = chosen
            self._add(chosen)
        for name in recipe.last:
            if name in winners:
                self._add(winners[name], reinstall=True)
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
        return ready, list(_in_order(chained))

    def _built(self, distribution: Distribution, record: WheelRecord) -> Chosen:
        self._digests[distribution.name] = record.sha256
        return Chosen(
            name=distribution.name,
            version=record.file.split("-")[1],
            file=record.file,
            location=wheelrecords.path_of(self._place.run.store, record),
            sha256=record.sha256,
        )

    def _sync(self, chosen: Iterable[Chosen]) -> None:
        lock = self._place.write("pylock.toml", privatelock.text(chosen))
        self._place.uv(
            commands.pip_sync(
                lock,
                python=self._python,
                config=self._config,
                link_mode=self._place.job.supply.link_mode,
                offline=self._place.run.offline,
                refresh=self._refresh,
            ),
            variables=self._variables,
        )

    def _add(self, chosen: Chosen, *, reinstall: bool = False) -> None:
        """Install one more wheel; ``reinstall`` puts its files over another owner's."""
        self._locks += 1
        lock = self._place.write(f"pylock.more{self._locks}.toml", privatelock.text([chosen]))
        self._place.enter("install", f"{chosen.name} {chosen.version}")
        self._place.uv(
            commands.pip_install(
                (),
                locks=(lock,),
                python=self._python,
                config=self._config,
                link_mode=self._place.job.supply.link_mode,
                offline=self._place.run.offline,
                refresh=self._refresh,
                reinstall=reinstall,
            ),
            variables=self._variables,
        )

    def _late(self, distributions: Iterable[Distribution]) -> None:
        named = [f"{item.name}=={item.version}" for item in distributions]
        if not named:
            return
        directory = self._place.job.late_wheels
        if directory is None:
            what = f"{', '.join(named)}: a later image stage brings it, and its wheel is not here"
            raise self._place.failing(what, LateMissing, "build this environment in that stage")
        self._place.enter("install", ", ".join(named))
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

    def _editable(self, pairs: tuple[tuple[Distribution, Origins], ...]) -> None:
        """Install local sources in place: the last step, because only they need the sources."""
        paths = []
        for distribution, _ in pairs:
            if not isinstance(distribution.content, Editable):
                continue
            path = distribution.content.path
            if not os.path.isdir(path):
                what = f"the local source {distribution.name} is not at {path}"
                raise self._place.failing(
                    what, SourceMissing, "install-local = false leaves local sources out"
                )
            paths.append(path)
        if not paths:
            return
        self._place.enter("install", f"{len(paths)} local sources")
        self._place.uv(
            commands.pip_install(
                (),
                editable=paths,
                python=self._python,
                config=self._build_config(),
                link_mode=self._place.job.supply.link_mode,
                offline=self._place.run.offline,
                refresh=[pair[0].name for pair in pairs if isinstance(pair[0].content, Editable)],
            ),
            variables=self._variables | self._declared(),
        )

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


def _in_order(chained: list[tuple[Distribution, Origins]]) -> Iterator[tuple[Distribution, Origins]]:
    """Yield builds without isolation so that each comes after those of them that it sees."""
    waiting = {distribution.name: (distribution, origin) for distribution, origin in chained}
    while waiting:
        free = [name for name, pair in waiting.items() if not _seen(pair[0]) & (waiting.keys() - {name})]
        # A loop of builds that see each other has no right order: take them as they come.
        for name in free or list(waiting)[:1]:
            yield waiting.pop(name)


def _seen(distribution: Distribution) -> set[str]:
    content = distribution.content
    entries = content.inputs.sees if isinstance(content, Build) else ()
    return {entry.partition("==")[0].partition("@")[0] for entry in entries}
