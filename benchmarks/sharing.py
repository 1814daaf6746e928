"""What it costs to build for 18 actors that want 11 distinct sets of packages, as a real trainer's do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.frame import AtMost, Comparison, Side, Within, timed
from benchmarks.surroundings import PYTHON, Surroundings, entries, index, remove, uv_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.frame import Measure

__all__ = ["builds", "inodes", "made_project", "size", "time"]

SETS = (
    *(("vllm", "gym"),) * 2,
    ("sglang",),
    *(("automodel",),) * 2,
    *(("mcore", "gym"),) * 2,
    ("mcore",),
    ("trtllm",),
    *(("vllm",),) * 3,
    *(("gym",),) * 2,
    *(("modelopt", "vllm"),) * 2,
    ("modelopt", "automodel"),
    ("modelopt", "mcore"),
)
"""The extras of each actor that has an environment."""
EXTRAS = tuple(sorted({extra for extras in SETS for extra in extras}))
DISTINCT = len(set(SETS))
GOAL = AtMost(DISTINCT / len(SETS))
COMMON, OWN, MODULES = 30, 3, 20
"""Packages that all share, packages of each extra, modules of each package."""


def time(scratch: Path) -> Comparison:
    """Compare one sync of all with one environment per actor, one after the other, by uv."""
    around, project = made_project(scratch)
    ours = _prepared(timed(partial(_sync, around, project)), lambda: remove(around.store))
    other = _prepared(timed(partial(_one_by_one, around, project)), lambda: remove(scratch / "by-uv"))
    return Comparison(ours=_ours(ours), other=_other(other), goal=GOAL, rounds=5)


def builds(scratch: Path) -> Comparison:
    """Count the environments that are built for 11 distinct sets."""
    around, project = made_project(scratch)
    _sync(around, project)

    def count() -> float:
        return float(len(around.answer("status", cwd=project)["environments"]))

    return Comparison(ours=_ours(count), other=None, goal=Within(DISTINCT), rounds=1, unit="environments")


def inodes(scratch: Path) -> Comparison:
    """Compare the numbers of files and folders."""
    return _counted(scratch, 0, "files and folders")


def size(scratch: Path) -> Comparison:
    """Compare the bytes of all files, linked ones counted each time."""
    return _counted(scratch, 1, "bytes")


def _counted(scratch: Path, which: int, unit: str) -> Comparison:
    around, project = made_project(scratch)
    _sync(around, project)
    _one_by_one(around, project)

    def ours() -> float:
        return float(entries(around.store)[which])

    def other() -> float:
        return float(entries(scratch / "by-uv")[which])

    return Comparison(ours=_ours(ours), other=_other(other), goal=GOAL, rounds=1, unit=unit)


def _ours(measure: Measure) -> Side:
    return Side(name="`greenroom sync`, no bytecode", measure=measure)


def _other(measure: Measure) -> Side:
    return Side(name=f"{len(SETS)} × (`uv venv` + `uv sync --frozen`)", measure=measure)


def _sync(around: Surroundings, project: Path) -> None:
    around.run(around.greenroom, "sync", cwd=project)


def _one_by_one(around: Surroundings, project: Path) -> None:
    for number, extras in enumerate(SETS):
        environment = around.scratch / "by-uv" / str(number)
        wanted = [word for extra in extras for word in ("--extra", extra)]
        around.run(around.uv, "venv", "-q", "--python", PYTHON, str(environment), cwd=project)
        words = [around.uv, "sync", "-q", "--frozen", "--python", PYTHON, *wanted]
        around.run(*words, cwd=project, more={"UV_PROJECT_ENVIRONMENT": str(environment)})


def made_project(scratch: Path) -> tuple[Surroundings, Path]:
    """Write a project whose extras are small packages of an index of our own, lock it and fill uv's cache."""
    around = Surroundings(scratch=scratch)
    tiny = index()
    module = "# a line that a module of middling size may have, many times\n" * 60
    for name in _names():
        files = {f"{name.replace('-', '_')}/part{number}.py": module for number in range(MODULES)}
        tiny.add_wheel(name, "1.0", files=files)
    project = scratch / "project"
    project.mkdir()
    extras = "\n".join(f"{extra} = {_packages(extra, OWN)!r}" for extra in EXTRAS)
    pyproject = f"""\
[project]
name = "sharing"
version = "0"
requires-python = ">=3.11"
dependencies = {_packages("common", COMMON)!r}

[project.optional-dependencies]
{extras}

[tool.uv]
package = false

[[tool.uv.index]]
name = "tiny"
url = "{tiny.url}"
default = true
"""
    actors = "\n".join(
        f'"app.actors.Worker{number}" = {list(extras)!r}' for number, extras in enumerate(SETS)
    )
    (project / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    (project / "greenroom.toml").write_text(
        f"[defaults]\ncompile-bytecode = false\n\n[actors]\n{actors}\n", encoding="utf-8"
    )
    uv_lock(around, project)
    _one_by_one(around, project)
    remove(scratch / "by-uv")
    return around, project


def _names() -> list[str]:
    return _packages("common", COMMON) + [name for extra in EXTRAS for name in _packages(extra, OWN)]


def _packages(stem: str, number: int) -> list[str]:
    return [f"{stem}-package-{which}" for which in range(number)]


def _prepared(measure: Measure, before: Callable[[], object]) -> Measure:
    def prepared() -> float:
        before()
        return measure()

    return prepared
