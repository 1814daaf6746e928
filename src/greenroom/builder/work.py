"""What is to be built, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.errors import GreenroomError
from greenroom.interpreters.model import Interpreter
from greenroom.recipes.model import Recipe, Supply

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
    partial: bool = False
    """An image's layer: stop before the record, leave a partial record at the final path."""


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
