"""What is to be built, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.errors import GreenroomError  # noqa: TC001 - types of data are there at run time
from greenroom.interpreters.model import Interpreter  # noqa: TC001 - types of data are there at run time
from greenroom.recipes.model import Recipe, Supply  # noqa: TC001 - types of data are there at run time

__all__ = ["Job", "Result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One environment to build: the key, who uses it, and all that a build needs."""

    key: str
    components: tuple[str, ...]
    """Names of the components that share it."""
    recipe: Recipe
    supply: Supply
    interpreter: Interpreter
    late_wheels: str | None = None
    """The directory of wheels of late packages, where an image stage has them."""
    pending: tuple[str, ...] = ()
    """Distributions that a later image stage brings: the environment stays partial."""
    replaces: float | None = None
    """``built_at`` of the ready environment that is to be built anew: it was found damaged, or the
    metadata of its editables changed. None: what is ready is left as it is."""
    force: bool = False
    """Replace it even while something runs from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one job ended."""

    key: str
    components: tuple[str, ...]
    ok: bool
    built: bool
    """False when the environment was ready already, or when nothing came of it."""
    path: str
    seconds: float
    error: GreenroomError | None = None
