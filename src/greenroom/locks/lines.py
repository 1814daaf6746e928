"""Split a requirements file into its logical lines, as pip and uv do.

Rules: pip's «Requirements File Format» — continued lines, comments, ``${VARIABLE}``.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from greenroom.errors import RequirementsUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Line", "decode", "expand", "logical_lines"]

_COMMENT = re.compile(r"(^|\s+)#.*$")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One logical line: comments gone, continuations joined, white space collapsed."""

    text: str
    file: str
    number: int
    """Where it starts, 1-based; 0 when the file stands for a place in the declaration."""

    @property
    def where(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.number}" if self.number else self.file


def decode(content: bytes, file: str) -> str:
    """Return a requirements file's text: by its byte order mark or coding line, else UTF-8.

    :raises RequirementsUnreadable: the bytes are not in that encoding.
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    if encoding is None:
        declared = (_CODING.match(line) for line in content.split(b"\n")[:2])
        encoding = next((found[1].decode("ascii") for found in declared if found), "utf-8")
    try:
        return content.decode(encoding)
    except LookupError as error:
        raise RequirementsUnreadable(f"its encoding {encoding!r} is unknown", where=file) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        todo = "save it as UTF-8"
        raise RequirementsUnreadable(f"it is not {encoding}", where=f"{file}:{line}", todo=todo) from error


def logical_lines(text: str, file: str) -> Iterator[Line]:
    """Yield the lines that say something."""
    joined, start = "", 0
    for number, physical in enumerate(text.splitlines(), 1):
        start = start or number
        if _COMMENT.match(physical):
            joined += " "  # a whole-line comment ends a continuation, its own backslash does not count
        elif physical.endswith("\\"):
            joined += physical[:-1]
            continue
        else:
            joined += physical
        yield from _line(joined, file, start)
        joined, start = "", 0
    yield from _line(joined, file, start)


def _line(joined: str, file: str, start: int) -> Iterator[Line]:
    text = " ".join(_COMMENT.sub("", joined).split())
    if text:
        yield Line(text=text, file=file, number=start)


def expand(line: Line, environ: Mapping[str, str]) -> tuple[Line, tuple[str, ...]]:
    """Return a line with its variables replaced, and their names.

    :raises RequirementsUnreadable: a variable is not set.
    """
    names = tuple(dict.fromkeys(_VARIABLE.findall(line.text)))
    for name in names:
        if name not in environ:
            raise RequirementsUnreadable(
                f"the variable {name} is not set", where=line.where, todo=f"export {name}=…"
            )
    text = _VARIABLE.sub(lambda match: environ[match[1]], line.text)
    return Line(text=text, file=line.file, number=line.number), names
