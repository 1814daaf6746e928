"""Python requests: which versions one admits, and when the driver's is taken.

A request is a version (``3.13``, ``3.13.2``) or a specifier set (``>=3.13,<3.14``,
https://packaging.python.org/en/latest/specifications/version-specifiers/), optionally prefixed
``cpython`` or ``cpython@``. Everything else (``pypy@3.10``, ``3.13t``, nonsense) admits nothing here: it
is left to uv untouched.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

__all__ = ["admits", "choose", "fits", "is_path", "names_cpython", "request_of"]

# Nine digits at most: what is longer is no Python's version, and int() refuses thousands.
_VERSION = re.compile(r"(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9})((?:a|b|rc)\d{1,9})?)?)?", re.ASCII)
_FULL = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})((?:a|b|rc)\d{1,9})?\+?", re.ASCII)
_VARIANT = re.compile(
    r"(?:(pypy|graalpy|cpython)\s*@?\s*)?(\d{1,9}(?:\.\d{1,9}){0,2}(?:(?:a|b|rc)\d{1,9})?)?(t|\+freethreaded)?",
    re.IGNORECASE | re.ASCII,
)
_TOO_LONG = re.compile(r"\d{10}", re.ASCII)
_CPYTHON = re.compile(r"cpython\s*@?\s*", re.IGNORECASE)


def request_of(text: str) -> str | None:
    """Return the request that a ``.python-version`` file's text makes: its first meaningful line.

    Comments start with ``#`` at the start of a line or after a space. Later lines are other tools'
    alternatives.

    :returns: None when there is only white space and comments.
    """
    for line in text.lstrip("\ufeff").splitlines():
        request = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()
        if request:
            return request
    return None


def admits(request: str, version: str) -> bool:
    """Tell whether a request admits a full version.

    A partial version admits all that start with it, pre-releases included; specifiers count as
    the standard orders versions, pre-releases included too: an interpreter that is there is a fact,
    not a candidate.

    :param request: of any form and content; comments and further lines are left out.
    :param version: ``3.13.2`` or ``3.14.0rc1``; any other form is admitted by nothing.
    """
    full = _FULL.fullmatch(version.strip())
    line = request_of(request)
    if full is None or line is None:
        return False
    prefix = _CPYTHON.match(line)
    wanted = line[prefix.end() :] if prefix else line
    if not wanted:
        return True
    asked = _VERSION.fullmatch(wanted)
    if asked is None:
        specifiers = _specifiers(wanted)
        return specifiers is not None and specifiers.contains(version.strip().rstrip("+"), prereleases=True)
    numbers = [int(part) for part in asked.groups()[:3] if part is not None]
    whole = len(numbers) == 3
    return numbers == [int(part) for part in full.groups()[: len(numbers)]] and (
        not whole or asked.group(4) == full.group(4)
    )


def _specifiers(text: str) -> SpecifierSet | None:
    """Return a specifier set; None when the text is none, or has a number that int() refuses."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - not for plain versions

    if _TOO_LONG.search(text):
        return None
    try:
        found = SpecifierSet(text)
    except ValueError:
        return None
    return found if len(found) else None


def choose(request: str | None, driver: str) -> str | None:
    """Return the driver's version when the request admits it, or makes no demand.

    :param request: None, or without content: no demand.
    :param driver: the driver's full version.
    :returns: the driver's version, or None: another interpreter is asked for.
    """
    if request is None or request_of(request) is None or admits(request, driver):
        return driver
    return None


def is_path(request: str) -> bool:
    """Tell whether a request names an interpreter's path rather than a version."""
    return "/" in request


def names_cpython(request: str) -> bool:
    """Tell whether a request says ``cpython`` itself."""
    return _CPYTHON.match(request_of(request) or "") is not None


def fits(request: str, *, implementation: str, version: str, abi: str) -> bool | None:
    """Tell whether an interpreter that is not the driver's is what a request asks for.

    :param implementation: ``sys.implementation.name``.
    :param version: its full version.
    :param abi: its ABI tag; ``cp313t`` is a free-threaded one.
    :returns: None when only uv knows what the request means.
    """
    line = request_of(request) or ""
    variant = _VARIANT.fullmatch(line)
    if variant is not None and line:
        name, number, free = variant.groups()
        asked = (name or "cpython").lower()
        return (
            implementation == asked
            and (asked != "cpython" or _is_free_threaded(abi) == bool(free))
            and (not number or admits(number, version))
        )
    if _specifiers(_CPYTHON.sub("", line, count=1)) is None:
        return None
    return implementation == "cpython" and not _is_free_threaded(abi) and admits(line, version)


def _is_free_threaded(abi: str) -> bool:
    return "t" in abi.removeprefix("cp")
