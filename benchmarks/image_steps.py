"""What the steps of an image cost: its list, its layers, a late package, and the look back at run time."""

from __future__ import annotations

import shutil
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import distributions
from tests.support.container import BASE, Buildah

import greenroom.actor_environments as listing
from benchmarks import planning, sharing
from benchmarks.frame import AtLeast, AtMost, Comparison, Side, Within, command, timed
from benchmarks.surroundings import PYTHON, Surroundings, index, remove, uv_lock
from greenroom import __version__
from greenroom.project import facade
from greenroom.store import layout, machine, records
from greenroom.store.model import Installed, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.frame import Benchmark, Measure

__all__ = ["BENCHMARKS"]

GOAL = AtMost(sharing.DISTINCT / len(sharing.SETS))
PACKAGES, MODULES = 120, 60
"""Of the environment whose late package is finished: some 7000 files."""


def script(scratch: Path) -> Comparison:
    """Compare the bare script over a real trainer's files with an interpreter that does nothing."""
    project = scratch / "layer"
    project.mkdir()
    for name in ("pyproject.toml", "uv.lock", "greenroom.toml"):
        shutil.copy(planning.CORPUS / name, project)
    shutil.copy(str(listing.__file__), project)
    env = Surroundings(scratch=scratch).env
    ours = command([PYTHON, "-I", "-S", "actor_environments.py"], cwd=project, env=env)
    other = command([PYTHON, "-I", "-S", "-c", "pass"], cwd=project, env=env)
    return Comparison(
        ours=Side(name="`python -I -S actor_environments.py`", measure=ours),
        other=Side(name="`python -I -S -c pass`", measure=other),
        goal=AtMost(4.5),
        rounds=31,
    )


def verify(scratch: Path) -> Comparison:
    """Measure ``image verify`` of an image with a real trainer's lock in which nothing changed.

    The environments' records are those that a build would have written; their files are not there.
    """
    around = Surroundings(scratch=scratch)
    project = planning.trainer(scratch, with_keys=True)
    env = around.env | {"GREENROOM_DRIVER": planning.python()}
    _records(project / "greenroom.toml", env)
    around.run(around.greenroom, "image", "freeze", cwd=project, more=env)
    ours = command([around.greenroom, "image", "verify"], cwd=project, env=env)
    side = Side(name="`greenroom image verify`, nothing changed", measure=ours)
    return Comparison(ours=side, other=None, goal=Within(0.2), rounds=21)


def finishing(scratch: Path) -> Comparison:
    """Compare bringing a late package into a partial environment with building that environment."""
    around, project = _late_project(scratch)
    words = (around.greenroom, "image", "sync", "--find-links", str(scratch / "wheels"), "--stage")
    around.run(*words, "deps", cwd=project)
    kept = scratch / "kept"
    around.store.rename(kept)

    def restored() -> None:
        remove(around.store)
        around.run("cp", "-a", str(kept), str(around.store), cwd=project)

    run = timed(lambda: around.run(*words, "trt", cwd=project))
    return Comparison(
        ours=Side(name="`image sync --stage trt`, partial before", measure=_prepared(run, restored)),
        other=Side(
            name="the same in a layer with nothing before",
            measure=_prepared(run, partial(remove, around.store)),
        ),
        goal=AtLeast(5),
        rounds=3,
    )


def layers(scratch: Path) -> Comparison:
    """Compare the layers' bytes of a real image with those of one environment for each actor, by uv."""
    buildah, ours, other = _contexts(scratch)

    def size(context: Path, folder: str) -> float:
        buildah.build(context, "image")
        found = buildah.layers("image")
        return float(
            sum(layer.size for layer in found if any(name.startswith(folder) for name in layer.names))
        )

    return Comparison(
        ours=Side(name="the written Dockerfile", measure=partial(size, ours, "opt/greenroom")),
        other=Side(name=_OTHER, measure=partial(size, other, "opt/environments")),
        goal=GOAL,
        rounds=1,
        unit="bytes",
    )


def build(scratch: Path) -> Comparison:
    """Compare the time in which the layers of a real image are built; the base and uv's cache are there."""
    buildah, ours, other = _contexts(scratch)

    def built(context: Path) -> None:
        buildah.build(context, "image", cached=False)

    return Comparison(
        ours=Side(name="the written Dockerfile", measure=timed(partial(built, ours))),
        other=Side(name=_OTHER, measure=timed(partial(built, other))),
        goal=GOAL,
        rounds=3,
    )


_OTHER = f"a RUN of {len(sharing.SETS)} × (`uv venv` + `uv sync --frozen`)"


def _contexts(scratch: Path) -> tuple[Buildah, Path, Path]:
    """Return a builder with its base, and the contexts of both sides."""
    around, project = sharing.made_project(scratch)
    buildah = Buildah(scratch / "buildah")
    buildah.make_base()
    other = scratch / "other"
    shutil.copytree(project, other)
    around.run(
        *(around.greenroom, "image", "dockerfile", "--base", BASE, "--no-install", "--output", str(project)),
        cwd=project,
    )
    cache = "--mount=type=cache,id=greenroom,target=/var/cache/greenroom"
    steps = ["export UV_CACHE_DIR=/var/cache/greenroom/uv"]
    for number, extras in enumerate(sharing.SETS):
        environment = f"/opt/environments/{number}"
        wanted = " ".join(f"--extra {extra}" for extra in extras)
        steps.append(f"uv venv -q --python /opt/python/bin/python {environment}")
        steps.append(f"UV_PROJECT_ENVIRONMENT={environment} uv sync -q --frozen {wanted}")
    lines = [f"FROM {BASE}", "WORKDIR /app", 'COPY ["pyproject.toml", "uv.lock", "./"]']
    text = "\n".join([*lines, f"RUN {cache} {' && '.join(steps)}", ""])
    (other / "Dockerfile").write_text(text, encoding="utf-8")
    return buildah, project, other


def _late_project(scratch: Path) -> tuple[Surroundings, Path]:
    around = Surroundings(scratch=scratch)
    tiny = index()
    names = [f"package-{number}" for number in range(PACKAGES)]
    for name in names:
        stem = name.replace("-", "_")
        files = {f"{stem}/part{number}.py": _module(f"{name} {number}") for number in range(MODULES)}
        tiny.add_wheel(name, "1.0", files=files)
    tiny.add_wheel("late", "1.0")
    (scratch / "wheels").mkdir()
    file, content, _ = distributions.wheel("late", "1.0", files={"late/ops.py": _module("late")})
    (scratch / "wheels" / file).write_bytes(content)
    project = scratch / "project"
    project.mkdir()
    pyproject = f"""\
[project]
name = "finishing"
version = "0"
requires-python = ">=3.11"
dependencies = {names!r}

[project.optional-dependencies]
trt = ["late"]

[tool.uv]
package = false

[[tool.uv.index]]
name = "tiny"
url = "{tiny.url}"
default = true
"""
    (project / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    declaration = (
        '[actors]\n"app.Engine" = ["trt"]\n[stages.trt]\nextras = ["trt"]\nlate-packages = ["late"]\n'
    )
    (project / "greenroom.toml").write_text(declaration, encoding="utf-8")
    uv_lock(around, project)
    return around, project


def _module(about: str) -> str:
    """Return code as a module of middling size has: bytecode is made of it."""
    function = (
        "def work{0}(values, key=None):\n    return sorted((value * {0} for value in values), key=key)\n\n"
    )
    return f"ABOUT = {about!r}\n\n" + "".join(function.format(number) for number in range(40))


def _records(declaration: Path, environ: dict[str, str]) -> None:
    """Write the record of each environment as a build would have."""
    plan = facade.load(declaration, environ=environ).plan()
    store = layout.building(plan.setting.stores)
    layout.prepare(store)
    for found in plan.environments:
        Path(store.environment(found.key)).mkdir()
        installed = tuple(
            Installed(
                name=item.name, version=item.version or "0", record="0" * 64, wheel=None, files=1, size=1
            )
            for item in found.recipe.distributions
        )
        records.write(
            store,
            Record(
                schema=1,
                key=found.key,
                recipe=found.recipe,
                installed=installed,
                clashes=(),
                base=(found.interpreter.path, *found.interpreter.stat),
                built_at=time.time(),
                seconds=1.0,
                host=machine.this_host(),
                uv="0",
                greenroom=__version__,
                log="",
                machine=machine.this_machine(),
            ),
        )


def _prepared(measure: Measure, before: Callable[[], object]) -> Measure:
    def prepared() -> float:
        before()
        return measure()

    return prepared


BENCHMARKS: dict[str, Benchmark] = {
    "image-script": script,
    "image-verify": verify,
    "image-finish": finishing,
    "image-layers": layers,
    "image-build": build,
}
