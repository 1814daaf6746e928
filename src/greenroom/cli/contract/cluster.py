"""What nodes of a Ray cluster say: the JSON data of ``ray``."""

from __future__ import annotations

from typing import TypedDict

from greenroom.cli.contract.reports import Finding  # noqa: TC001 - the documentation is made from it

__all__ = ["Node", "NodeEnvironment", "Ray", "Wanted"]


class Wanted(TypedDict):
    """One environment that was asked for."""

    key: str
    components: list[str]
    declaration: str
    store: str


class NodeEnvironment(TypedDict):
    """One environment on one node."""

    key: str
    components: list[str]
    outcome: str
    """``prepare``: ``found``, ``built``, ``joined``, ``repaired``, ``failed``; else the state there."""
    seconds: float
    error: str
    """Why it is not ready there; empty when it is."""
    python: str
    ray: str
    """The version of Ray in it; empty when it has none."""


class Node(TypedDict):
    """One node that was alive."""

    node: str
    """Ray's id."""
    address: str
    error: str
    """Why it could not be asked; empty when it answered."""
    greenroom: str
    """The version beside the node's Ray; empty when there is none."""
    python: str
    ray: str
    plugin: str
    """The version of the plugin that the node's agent has loaded; empty when it has none."""
    bytecode: bool
    """Whether the node's own Ray has compiled bytecode."""
    environments: list[NodeEnvironment]


class Ray(TypedDict):
    """``ray``: what was done or found, node by node; ``prepare`` prints events before it."""

    action: str
    ok: bool
    seconds: float
    wanted: list[Wanted]
    nodes: list[Node]
    findings: list[Finding]
    """With ``check`` only."""
    numbers: dict[str, int]
    """Severity -> how many findings."""
