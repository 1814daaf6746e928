"""What was done or would be: the JSON data of ``init``, ``check``, ``lock``, ``plan`` and ``sync``."""

from __future__ import annotations

from typing import TypedDict

__all__ = ["Build", "Check", "Finding", "Init", "Lock", "Outdated", "Plan", "Planned", "Problem", "Sync"]


class Init(TypedDict):
    """``init``: the first declaration."""

    file: str
    written: bool
    text: str
    decisions: list[str]


class Finding(TypedDict):
    """One finding of ``check``."""

    check: str
    severity: str
    """``error``, ``warning`` or ``note``."""
    what: str
    where: str | None
    todo: str | None
    components: list[str]


class Check(TypedDict):
    """``check``: what would fail later."""

    declaration: str
    components: list[str]
    """All that were looked at."""
    findings: list[Finding]
    numbers: dict[str, int]
    """Severity -> how many."""


class Outdated(TypedDict):
    """A lock that is missing or out of date."""

    component: str
    file: str
    reason: str


class Problem(TypedDict):
    """What keeps some components from being ready."""

    components: list[str]
    kind: str
    """The error's class."""
    message: str
    status: int
    """The exit status that belongs to it."""


class Lock(TypedDict):
    """``lock``: what was written; the last line of ``--json``, after the events."""

    written: list[str]
    outdated: list[Outdated]
    """With ``--check`` only."""
    problems: list[Problem]


class Planned(TypedDict):
    """One environment of ``plan``."""

    key: str
    components: list[str]
    state: str
    reason: str
    python: str
    distributions: list[tuple[str, str | None]]
    """Name and version; null for a local source."""


class Plan(TypedDict):
    """``plan``: what sync would do."""

    declaration: str
    store: str
    """Where it would build."""
    driver: dict[str, str]
    """``interpreter`` and ``python``, its version."""
    lock: list[Outdated]
    environments: list[Planned]
    drivers: list[str]
    """Components on the driver's interpreter."""
    problems: list[Problem]
    notes: list[str]


class Build(TypedDict):
    """An environment that a sync built or fetched."""

    key: str
    seconds: float


class Sync(TypedDict):
    """``sync``: what was done; the last line of ``--json``, after the events."""

    ready: list[str]
    """Keys that were there already."""
    built: list[Build]
    joined: list[str]
    """Keys that another process built meanwhile."""
    fetched: list[Build]
    """Keys whose archives were fetched (``--from``)."""
    failed: list[Problem]
    problems: list[Problem]
    """Components whose environment cannot be told."""
    locked: list[str]
    """Locks that were written."""
    components: dict[str, str]
    """Component -> key, for those that are ready now."""
