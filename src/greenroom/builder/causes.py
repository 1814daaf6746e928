"""Find the cause of a failure in the words of the tool that failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["cause", "disk_is_full", "fetched_what_is_not_pinned", "missing_from_cache"]

LONGEST = 700
"""Characters of a cause: the whole stands in the log."""

_HEAD = re.compile("^\\s*(?:error:|\N{MULTIPLICATION SIGN})\\s*(.*)$")
_GIT = re.compile(r"^fatal: (.*)$")
_LINK = re.compile(r"^\s*(?:cause:|Caused by:|[├╰]─▶|│)\s?(.*)$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\(os error (?:28|122)\)")
_OFFLINE = re.compile(r"network (?:was|connectivity is) disabled|not found in the cache", re.IGNORECASE)
_BUILT = re.compile(r"^Failed to build `[^`]*`$")
_HASH = re.compile(r"[Hh]ash mismatch")
_BACKEND = "The build backend returned an error"


def cause(tail: Sequence[str], *, named: bool = False) -> str:
    """Return one line that says why, from the last lines of a tool's output.

    uv writes ``error: …`` with indented ``cause: …`` lines, older releases a cross and ``╰─▶ …``.
    Of a build backend's traceback only the last line is taken.

    :param tail: the last lines, oldest first.
    :param named: what was built is said elsewhere, so that uv's word for it (a private path) is left out.
    """
    lines = [_COLOUR.sub("", line).rstrip() for line in tail]
    start = next((n for n in range(len(lines) - 1, -1, -1) if _HEAD.match(lines[n])), None)
    if start is None:
        fatal = next((found for line in lines if (found := _GIT.match(line))), None)
        if fatal is not None:  # git's first word is the reason, its last ones are advice
            return _shortened(fatal.group(1))
        return _shortened(_last(lines) or "it ended without a word")
    parts, inner = _chain(lines[start:])
    if any(_BACKEND in part for part in parts):
        parts.append(inner or _last(lines[:start]))
    if named and len(parts) > 1 and _BUILT.match(parts[0]):
        del parts[0]
    return _shortened(": ".join(part.rstrip(":") for part in parts if part))


def disk_is_full(tail: Iterable[str]) -> bool:
    """Tell whether the output says that the disk or a quota is used up."""
    return any(_FULL.search(line) for line in tail)


def missing_from_cache(tail: Iterable[str]) -> bool:
    """Tell whether the output says that something was needed from the network while offline."""
    return any(_OFFLINE.search(line) for line in tail)


def fetched_what_is_not_pinned(tail: Iterable[str]) -> bool:
    """Tell whether the output says that a file is not the one that the lock pins."""
    return any(_HASH.search(line) for line in tail)


def _chain(lines: Sequence[str]) -> tuple[list[str], str]:
    """Return the links of uv's chain of causes, and the last line of what a backend printed."""
    head = _HEAD.match(lines[0])
    parts = [head.group(1).strip() if head else lines[0].strip()]
    printed, inside = "", False
    for line in lines[1:]:
        text = line.strip(" │")
        if text.startswith("hint:"):
            break
        if text in {"[stderr]", "[stdout]"}:
            inside = True
        elif inside:
            printed = text or printed
        elif (link := _LINK.match(line)) and not line.lstrip().startswith("│"):
            parts.append(link.group(1).strip())
        elif text:
            parts[-1] = f"{parts[-1]} {text}"
    return parts, printed


def _last(lines: Sequence[str]) -> str:
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
