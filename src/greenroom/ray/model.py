"""What nodes are asked for and what they report, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NodeEnvironment", "NodeReport", "Outcome", "Preparation", "Said", "Wanted"]


class Outcome:
    """What a node did about an environment, as words for people and JSON."""

    FOUND = "found"
    BUILT = "built"
    JOINED = "joined"
    """Another process, perhaps of another node, built it in the same store meanwhile."""
    REPAIRED = "repaired"
    """It was damaged, and was built anew."""
    FETCHED = "fetched"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One environment that a node is asked for."""

    key: str
    components: tuple[str, ...]
    declaration: str
    """The declaration's path, the same on every node that builds."""
    store: str
    """The store's path: an interpreter's path is a function of store and key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a node says while it works."""

    node: str
    address: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEnvironment:
    """One environment on one node."""

    key: str
    components: tuple[str, ...]
    outcome: str
    """A word of :class:`Outcome`; when nothing was made, of ``greenroom.store.model.State``."""
    seconds: float = 0.0
    error: str = ""
    """Why it is not ready there, one line; empty when it is."""
    python: str = ""
    ray: str = ""
    """The version of Ray in it; empty when it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """One node, and every environment that it was asked for."""

    node: str
    """Ray's id, hexadecimal."""
    address: str
    error: str = ""
    """Why the node could not be asked at all, one line; empty when it answered."""
    greenroom: str = ""
    """The version of greenroom beside the node's Ray; empty when there is none."""
    python: str = ""
    ray: str = ""
    plugin: str = ""
    """greenroom's version in the node's agent; empty when the plugin is not loaded there."""
    bytecode: bool = True
    """Whether the node's own Ray has compiled bytecode."""
    environments: tuple[NodeEnvironment, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything that was asked for is ready there."""
        return not self.error and not any(found.error for found in self.environments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What ``prepare`` did: one report for each node that was alive."""

    wanted: tuple[Wanted, ...]
    nodes: tuple[NodeReport, ...]
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every node has every environment ready; no node at all is no success."""
        complete = all(len(node.environments) == len(self.wanted) for node in self.nodes if not node.error)
        return bool(self.nodes) and complete and all(node.ok for node in self.nodes)

    @property
    def failures(self) -> tuple[str, ...]:
        """Return one line for each node and environment that is not ready."""
        lines = [f"{node.address}: {node.error}" for node in self.nodes if node.error]
        lines += [
            f"{node.address}: {', '.join(found.components)}: {found.error}"
            for node in self.nodes
            for found in node.environments
            if found.error
        ]
        return tuple(lines)
