"""How what is built fares: the JSON data of ``verify``, ``edit`` and ``gc``."""

from __future__ import annotations

from typing import TypedDict

from greenroom.cli.contract.reports import Problem  # noqa: TC001 - tests resolve it

__all__ = ["Collection", "Difference", "Edit", "Gc", "Item", "Kept", "Verified", "Verify"]


class Difference(TypedDict):
    """One difference from what was proven."""

    kind: str
    """`smoke`: a statement failed, everything else is a change of files."""
    distribution: str | None
    path: str | None
    message: str


class Verified(TypedDict):
    """One environment of ``verify``."""

    key: str
    components: list[str]
    state: str
    path: str
    findings: list[Difference]
    statements: int | None
    """How many smoke statements ran; null without `--smoke`."""
    repaired: bool | None
    """Null when no repair was tried."""
    error: str | None
    """Why the repair failed."""


class Verify(TypedDict):
    """``verify``: what is not as it was proven."""

    environments: list[Verified]
    problems: list[Problem]


class Edit(TypedDict):
    """``edit NAME``: a writable copy."""

    name: str
    path: str
    interpreter: str


class Item(TypedDict):
    """Something that ``gc`` removes."""

    kind: str
    name: str
    reason: str


class Kept(TypedDict):
    """An environment that ``gc`` keeps."""

    key: str
    reason: str


class Collection(TypedDict):
    """One store of ``gc``."""

    path: str
    removed: list[Item]
    kept: list[Kept]
    freed: int
    """Bytes."""
    busy: bool
    """Whether builds were running, so that shared files stayed."""


class Gc(TypedDict):
    """``gc``: what was removed, or would be."""

    dry_run: bool
    stores: list[Collection]
