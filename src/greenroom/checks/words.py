"""Words that several checks use: numbers with their nouns, short lists, bytes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["amount", "count", "few"]

_STEP = 1000
_SHOWN = 8


def amount(size: int) -> str:
    """Return a number of bytes for people, in powers of ten."""
    value, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < _STEP:
            break
        value, unit = value / _STEP, larger
    return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def few(names: Sequence[str], most: int = _SHOWN) -> str:
    """Return some names and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
