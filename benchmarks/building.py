"""What it costs to build an environment of 75 distributions with 14,000 files, everything cached."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frame import AtLeast, AtMost, Comparison, Extra, Side, command, timed
from benchmarks.surroundings import PYTHON, Surroundings, remove, uv_lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.frame import Measure

__all__ = ["first_compiled", "further_compiled", "further_pip", "further_plain", "warm"]

DATA = Path(__file__).parent / "data" / "big"


def warm(scratch: Path) -> Comparison:
    """Compare a warm build without bytecode with ``uv venv`` and ``uv sync --frozen``."""
    around, project = _project(scratch, bytecode=False)
    ours = command(
        [around.greenroom, "sync", "big.Base"],
        cwd=project,
        env=around.env,
        before=lambda: remove(around.store),
    )
    return Comparison(
        ours=Side(name="`greenroom sync`, no bytecode", measure=ours),
        other=Side(name="`uv venv` + `uv sync --frozen`", measure=_uv_sync(around, project)),
        goal=Extra(0.25),
        rounds=11,
    )


def first_compiled(scratch: Path) -> Comparison:
    """Compare the first build with bytecode with ``uv sync --compile-bytecode``."""
    around, project = _project(scratch, bytecode=True)
    ours = command(
        [around.greenroom, "sync", "big.Base"],
        cwd=project,
        env=around.env,
        before=lambda: remove(around.store),
    )
    return Comparison(
        ours=Side(name="`greenroom sync`, first bytecode", measure=ours),
        other=_uv_compiled(around, project),
        goal=AtMost(1.15),
        rounds=3,
    )


def further_compiled(scratch: Path) -> Comparison:
    """Compare a further environment with ``uv sync --compile-bytecode``."""
    around, project, ours = _further(scratch)
    return Comparison(ours=ours, other=_uv_compiled(around, project), goal=AtLeast(20), rounds=3)


def further_plain(scratch: Path) -> Comparison:
    """Compare a further environment, bytecode included, with uv's without."""
    around, project, ours = _further(scratch)
    plain = Side(name="`uv venv` + `uv sync --frozen`", measure=_uv_sync(around, project))
    return Comparison(ours=ours, other=plain, goal=Extra(0.4), rounds=11)


def further_pip(scratch: Path) -> Comparison:
    """Compare a further environment, bytecode included, with ``uv pip sync -r`` without."""
    around, project, ours = _further(scratch)
    exported = scratch / "requirements.txt"
    exported.write_text(
        around.run(around.uv, "export", "-q", "--frozen", "--no-emit-project", cwd=project), encoding="utf-8"
    )
    environment = scratch / "by-pip"

    def install() -> None:
        around.run(around.uv, "venv", "-q", "--python", PYTHON, str(environment), cwd=project)
        python = str(environment / "bin" / "python")
        around.run(around.uv, "pip", "sync", "-q", "--python", python, str(exported), cwd=project)

    measure = _prepared(timed(install), lambda: remove(environment))
    return Comparison(
        ours=ours, other=Side(name="`uv venv` + `uv pip sync -r`", measure=measure), goal=AtMost(1), rounds=11
    )


def _project(scratch: Path, *, bytecode: bool) -> tuple[Surroundings, Path]:
    around = Surroundings(scratch=scratch)
    project = scratch / "big"
    shutil.copytree(DATA, project)
    declaration = f"""\
[defaults]
compile-bytecode = {str(bytecode).lower()}

[actors]
"big.Base" = []
"big.More" = ["more"]
"""
    (project / "greenroom.toml").write_text(declaration, encoding="utf-8")
    uv_lock(around, project)
    # Fill uv's cache.
    around.run(around.uv, "sync", "-q", "--frozen", "--all-extras", "--python", PYTHON, cwd=project)
    remove(project / ".venv")
    return around, project


def _further(scratch: Path) -> tuple[Surroundings, Path, Side]:
    """Build one environment, and measure another one that has one small package more.

    What came with the second one before (its directory, the bytecode that only it needs) is removed
    before each round.
    """
    around, project = _project(scratch, bytecode=True)
    around.run(around.greenroom, "sync", "big.Base", cwd=project)
    known = _bytecode(around)

    def forget() -> None:
        for found in around.answer("status", "big.More", cwd=project)["environments"]:
            remove(Path(found["path"]))
        for path in _bytecode(around) - known:
            path.parent.chmod(0o755)
            path.unlink()

    ours = command([around.greenroom, "sync", "big.More"], cwd=project, env=around.env, before=forget)
    return around, project, Side(name="`greenroom sync`, a further one with bytecode", measure=ours)


def _bytecode(around: Surroundings) -> set[Path]:
    kept = around.store / ".greenroom" / "bytecode"
    return {Path(folder, name) for folder, _, names in os.walk(kept) for name in names}


def _uv_sync(around: Surroundings, project: Path, *more: str) -> Measure:
    def sync() -> None:
        around.run(around.uv, "venv", "-q", "--python", PYTHON, cwd=project)
        around.run(around.uv, "sync", "-q", "--frozen", "--python", PYTHON, *more, cwd=project)

    return _prepared(timed(sync), lambda: remove(project / ".venv"))


def _uv_compiled(around: Surroundings, project: Path) -> Side:
    measure = _uv_sync(around, project, "--compile-bytecode")
    return Side(name="`uv sync --compile-bytecode`", measure=measure)


def _prepared(measure: Measure, before: Callable[[], object]) -> Measure:
    def prepared() -> float:
        before()
        return measure()

    return prepared
