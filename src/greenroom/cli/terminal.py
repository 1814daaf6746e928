"""Write to the terminal: colours where they are wanted, and no text that stops the program."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

__all__ = ["coloured", "complain", "is_live", "paint", "write"]

COLOURS = {"ready": "32", "missing": "33", "stale": "33", "partial": "33", "damaged": "31", "failed": "31"}
"""What a state looks like; other colours are named by what they are for."""
_MORE = {"error": "1;31", "dim": "2", "bold": "1"}


def coloured(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Tell whether a stream takes colours (``NO_COLOR``: no-color.org)."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


def is_live(environ: Mapping[str, str]) -> bool:
    """Tell whether progress can be shown live: on a terminal that can move its cursor."""
    return environ.get("TERM") != "dumb" and sys.stderr.isatty()


def paint(text: str, kind: str, *, on: bool) -> str:
    """Return ``text`` in the colour of a kind, or as it is when colours are off."""
    code = COLOURS.get(kind) or _MORE.get(kind)
    return f"\x1b[{code}m{text}\x1b[0m" if on and code else text


def write(text: str, stream: TextIO | None = None) -> None:
    """Write text whatever it holds: undecodable file names go out as the bytes they are."""
    out = stream if stream is not None else sys.stdout
    try:
        out.write(text)
    except UnicodeEncodeError:
        encoding = out.encoding or "ascii"
        try:
            data = text.encode(encoding, "surrogateescape")
        except UnicodeEncodeError:
            data = text.encode(encoding, "backslashreplace")
        out.flush()
        out.buffer.write(data)


def complain(line: str) -> None:
    """Write one line about something wrong to stderr."""
    name = paint("greenroom:", "error", on=coloured(sys.stderr, os.environ))
    write(f"{name} {line}\n", sys.stderr)
