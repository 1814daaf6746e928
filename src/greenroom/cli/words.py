"""Words for people: few names, short keys, numbers with their nouns."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["amount", "count", "few", "short"]

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_SHOWN = 8


def few(names: Sequence[str], most: int = 3) -> str:
    """Return some names and how many more there are."""
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def short(key: str) -> str:
    """Return a key as short as people compare keys by."""
    abi, dash, digest = key.partition("-")
    return f"{abi}{dash}{digest[:_SHOWN]}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 environment``, ``2 environments``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def amount(size: float) -> str:
    """Return a number of bytes in the largest unit that leaves it above one."""
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} {_UNITS[-1]}"
