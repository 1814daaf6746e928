"""Build environments of a store from tiny wheels with the real uv, without builder, index and declaration."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.interpreters import discovery
from greenroom.recipes import keys
from greenroom.recipes.model import Distribution, Editable, Late, Python, Recipe, Wheel
from greenroom.store import commit, layout
from tests.support import distributions, jobs
from tests.support.workspace import script

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from greenroom.interpreters.model import Interpreter
    from greenroom.store.commit import Committed
    from greenroom.store.layout import Store
    from greenroom.uv.process import Group

__all__ = ["Made", "Workshop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A wheel or a source directory on disk, with what a recipe says of it."""

    distribution: Distribution
    path: str


@dataclass(slots=True, kw_only=True)
class Workshop:
    """A store, a place for wheels, and a group in which processes run."""

    directory: Path
    store: Store
    uv_cache: Path
    group: Group
    python: str | None = None
    """The interpreter's path; None: the tests' own."""
    count: int = 0

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter of every environment."""
        return jobs.interpreter() if self.python is None else discovery.inspect(self.python)

    def wheel(self, name: str, version: str = "1.0", **options: Any) -> Made:
        """Write a wheel; see :func:`tests.support.distributions.wheel`."""
        file, content, _ = distributions.wheel(name, version, **options)
        digest = hashlib.sha256(content).hexdigest()
        folder = self.directory / "wheels" / digest[:12]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
        entry = Distribution(
            name=distributions.normalized(name), version=version, content=Wheel(file=file, sha256=digest)
        )
        return Made(distribution=entry, path=str(folder / file))

    def editable(self, name: str, version: str = "1.0") -> Made:
        """Write a local source that is installed in place."""
        path = distributions.write_source(self.directory / f"source-{name}", name, version)
        content = Editable(path=str(path))
        return Made(distribution=Distribution(name=name, version=version, content=content), path=str(path))

    def recipe(self, *made: Made, late: Sequence[str] = (), **options: Any) -> Recipe:
        """Return the recipe of an environment with these distributions, and late ones by name."""
        target = self.interpreter
        entries = [one.distribution for one in made]
        entries += [Distribution(name=name, version="1.0", content=Late()) for name in late]
        return Recipe(
            python=Python(
                path=target.path,
                implementation=target.implementation,
                version=target.version,
                abi=target.abi,
            ),
            distributions=tuple(sorted(entries, key=lambda entry: entry.name)),
            **{"bytecode": False, **options},
        )

    def uv(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run uv with this workshop's cache and no index."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory),
            "UV_CACHE_DIR": str(self.uv_cache),
            "UV_OFFLINE": "1",
            "UV_NO_CONFIG": "1",
            "UV_NO_INDEX": "1",
            **variables,
        }
        return subprocess.run(
            [script("uv"), *arguments],
            env=environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=check,
        )

    def install(self, root: str, *made: Made, link_mode: str = "hardlink") -> None:
        """Install distributions into an environment, in this order: the last one wins a clash."""
        for one in made:
            editable = ["-e"] if isinstance(one.distribution.content, Editable) else []
            self.uv(
                "pip",
                "install",
                "-q",
                "--no-deps",
                "--reinstall",
                f"--link-mode={link_mode}",
                "--python",
                f"{root}/bin/python",
                *editable,
                one.path,
            )

    def private(self, key: str, *made: Made, link_mode: str = "hardlink") -> str:
        """Return a private directory with everything installed, as the builder leaves it."""
        layout.prepare(self.store)
        self.count += 1
        root = f"{self.store.building}/{key}.{self.count:06x}"
        self.uv("venv", "-q", "--relocatable", "--python", self.interpreter.path, root)
        self.install(root, *made, link_mode=link_mode)
        return root

    def build_of(self, recipe: Recipe, **more: Any) -> commit.Build:
        """Return what the builder tells a commit."""
        return commit.Build(
            key=keys.key(recipe),
            recipe=recipe,
            interpreter=self.interpreter,
            began=time.monotonic(),
            uv="0.0",
            log="x.log",
            **more,
        )

    def commit(
        self, private: str, recipe: Recipe, *, build: dict[str, Any] | None = None, **options: Any
    ) -> Committed:
        """Commit a private directory."""
        return commit.commit(
            self.store,
            private,
            self.build_of(recipe, **(build or {})),
            group=self.group,
            flush=False,
            **options,
        )

    def environment(
        self, *made: Made, link_mode: str = "hardlink", late: Sequence[str] = (), **options: Any
    ) -> Committed:
        """Build an environment from nothing to its record."""
        recipe = self.recipe(*made, late=late, **options)
        private = self.private(keys.key(recipe), *made, link_mode=link_mode)
        return self.commit(private, recipe, build={"pending": tuple(late)})
