"""What was moved where: the JSON data of ``pack``, ``unpack`` and ``push``."""

from __future__ import annotations

from typing import TypedDict

from greenroom.cli.contract.reports import Problem  # noqa: TC001 - tests resolve it

__all__ = ["Pack", "Push", "Pushed", "Unpack"]


class Pack(TypedDict):
    """``pack NAME``: an archive that was written."""

    key: str
    file: str
    files: int
    size: int
    """Bytes of the files."""
    packed: int
    """Bytes of the archive."""
    sources: list[str]
    """Directories of local sources that are not in it and have to stand at the same place."""


class Unpack(TypedDict):
    """``unpack FILE``: an environment that is ready now."""

    key: str
    path: str
    found: bool
    """Whether it was ready already."""
    files: int
    size: int
    """Bytes of the files."""
    seconds: float
    host: str
    """Where it was built."""


class Pushed(TypedDict):
    """One environment of ``push``."""

    key: str
    components: list[str]
    url: str
    packed: int | None
    """Bytes of the archive; null when it was not put there."""
    error: str | None


class Push(TypedDict):
    """``push URL``: what was put there."""

    environments: list[Pushed]
    problems: list[Problem]
