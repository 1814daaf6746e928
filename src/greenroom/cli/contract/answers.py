"""What there is: the JSON data of ``python``, ``list``, ``status``, ``why``, ``diff`` and ``log``."""

from __future__ import annotations

from typing import TypedDict

__all__ = [
    "Component",
    "Content",
    "Diff",
    "Environment",
    "List",
    "Listed",
    "Log",
    "Python",
    "Side",
    "Status",
    "Why",
]


class Python(TypedDict):
    """``python NAME``: a component's interpreter."""

    name: str
    kind: str
    """``actor`` or ``server``."""
    interpreter: str
    """The path to start."""
    environment: str | None
    """The environment's directory; null on the driver's interpreter."""
    key: str | None
    python: str
    """The interpreter's version."""


class Listed(TypedDict):
    """One component of ``list``."""

    name: str
    kind: str
    state: str
    """``ready``, ``missing``, ``stale``, ``partial``, ``damaged`` or ``driver``."""
    key: str | None
    """Null on the driver's interpreter, and where it cannot be told."""
    python: str
    interpreter: str | None
    """Null unless it can be started now."""


class List(TypedDict):
    """``list``: all components."""

    declaration: str
    components: list[Listed]


class Component(TypedDict):
    """One component of ``status``."""

    name: str
    kind: str
    state: str
    key: str | None
    problem: str | None
    """Why it is not ready, in words."""


class Environment(TypedDict):
    """One environment of ``status``."""

    key: str
    state: str
    reason: str | None
    path: str
    python: str
    components: list[str]


class Status(TypedDict):
    """``status``: the state by environment and by component."""

    declaration: str
    stores: list[str]
    environments: list[Environment]
    components: list[Component]
    notes: list[str]


class Content(TypedDict):
    """One distribution of ``why``."""

    name: str
    version: str | None
    kind: str
    """``wheel``, ``build``, ``editable`` or ``late``."""
    decides: str
    """What of it is in the key."""


class Why(TypedDict):
    """``why NAME``: what decides an environment, and what changed it."""

    name: str
    key: str
    state: str
    reason: str
    declared: str
    source: str
    python: str
    interpreter: str
    """The base interpreter's path."""
    request: str | None
    distributions: list[Content]
    variables: dict[str, str | None]
    options: list[str]
    shared_with: list[str]
    before: str | None
    """The key that the component had when it was last ready, when it was another one."""
    changes: list[str] | None
    """In words; null when the environment of before is gone."""


class Side(TypedDict):
    """One side of ``diff``."""

    name: str
    key: str


class Diff(TypedDict):
    """``diff A B``: how two environments differ."""

    a: Side
    b: Side
    same: bool
    differences: list[str]


class Log(TypedDict):
    """``log NAME``: the log of a component's last build."""

    name: str
    path: str
    text: str | None
    """Null with ``--path``."""
