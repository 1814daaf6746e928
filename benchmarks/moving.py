"""What it costs to unpack an environment, against ``tar`` on the same archive."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from benchmarks.building import DATA
from benchmarks.frame import AtMost, Comparison, Side, command
from benchmarks.surroundings import Surroundings, remove, uv_lock

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["unpack"]


def unpack(scratch: Path) -> Comparison:
    """Compare ``greenroom unpack``, digests and proof included, with ``tar --zstd -x``."""
    around = Surroundings(scratch=scratch)
    project = scratch / "big"
    shutil.copytree(DATA, project)
    declaration = '[defaults]\ncompile-bytecode = false\n\n[actors]\n"big.Base" = []\n'
    (project / "greenroom.toml").write_text(declaration, encoding="utf-8")
    uv_lock(around, project)
    around.run(around.greenroom, "sync", cwd=project)
    archive = scratch / "big.tar.zst"
    around.run(around.greenroom, "pack", "big.Base", "-o", str(archive), cwd=project)
    store, plain = scratch / "elsewhere", scratch / "plain"

    def empty() -> None:
        remove(plain)
        plain.mkdir()

    ours = command(
        [around.greenroom, "unpack", archive, "--store", store],
        cwd=scratch,
        env=around.env,
        before=lambda: remove(store),
    )
    other = command(
        ["tar", "--zstd", "-xf", archive, "-C", plain],
        cwd=scratch,
        env=around.env | {"PATH": f"{around.env['PATH']}:/usr/bin:/bin"},
        before=empty,
    )
    return Comparison(
        ours=Side(name="`greenroom unpack`, proof included", measure=ours),
        other=Side(name="`tar --zstd -x`", measure=other),
        goal=AtMost(1.5),
        rounds=5,
    )
