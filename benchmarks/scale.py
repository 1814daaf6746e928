"""What a further component costs when nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.frame import AtMost, Comparison, Side, command
from benchmarks.surroundings import Surroundings, index, uv_lock

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["components"]

FEW, MANY = 1_000, 10_000
EXTRAS = 10


def components(scratch: Path) -> Comparison:
    """Compare a no-op sync of 10,000 components with one of 1,000."""
    around = Surroundings(scratch=scratch)
    tiny = index()
    for number in range(EXTRAS):
        tiny.add_wheel(f"tiny-{number}", "1.0")
    sides = []
    for size in (MANY, FEW):
        project = _project(around, size, tiny.url)
        around.run(around.greenroom, "sync", cwd=project)
        measure = command([around.greenroom, "sync"], cwd=project, env=around.env)
        sides.append(Side(name=f"`greenroom sync`, {size:,} components", measure=measure))
    return Comparison(ours=sides[0], other=sides[1], goal=AtMost(MANY / FEW), rounds=11)


def _project(around: Surroundings, size: int, url: str) -> Path:
    """Write a project of so many actors that want ten sets of packages."""
    project = around.scratch / f"project-{size}"
    project.mkdir()
    extras = "\n".join(f'e{number} = ["tiny-{number}"]' for number in range(EXTRAS))
    pyproject = f"""\
[project]
name = "scale"
version = "0"
requires-python = ">=3.11"

[project.optional-dependencies]
{extras}

[tool.uv]
package = false

[[tool.uv.index]]
name = "tiny"
url = "{url}"
default = true
"""
    actors = "\n".join(
        f'"app.part{number // 100}.Worker{number}" = ["e{number % EXTRAS}"]' for number in range(size)
    )
    (project / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    (project / "greenroom.toml").write_text(f"[actors]\n{actors}\n", encoding="utf-8")
    uv_lock(around, project)
    return project
