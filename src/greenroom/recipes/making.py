"""Make the recipe of one environment from its lock: choose the one file of each distribution."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.model import Selection
    from greenroom.recipes.model import Recipe, Supply

__all__ = ["make"]


def make(
    spec: EnvironmentSpec, selection: Selection, interpreter: Interpreter, environ: Mapping[str, str]
) -> tuple[Recipe, Supply]:
    """Return the recipe and what the builder needs beside it."""
    raise NotImplementedError
