"""Errors of Ray: what a cluster, an actor or a runtime environment lacks."""

from __future__ import annotations

from greenroom.errors.root import FailedError, UseError, nearest, use_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "EnvFileInRuntimeEnv",
    "MinorMismatch",
    "NodesNotReady",
    "NotAnActor",
    "PatchMismatch",
    "ProvisionFailed",
    "RayExtraMissing",
    "RayMismatch",
    "RayMissing",
    "RayNotInstalled",
    "RayNotRunning",
    "RuntimeEnvConflict",
    "UnknownActor",
    "UnknownNode",
    "UvRunHookActive",
]


class RayNotInstalled(UseError):
    """Ray is needed in the process that asks, and is not there."""

    def __init__(self) -> None:
        super().__init__("Ray is not installed here", todo="pip install 'greenroom[ray]' beside the driver")


class RayNotRunning(UseError):
    """No Ray cluster answers."""

    def __init__(self, address: str, reason: str) -> None:
        self.address, self.reason = address, reason
        super().__init__(
            f"no Ray cluster at {address}: {reason}", todo="start it with `ray start`, or name it: --address"
        )


class NotAnActor(UseError):
    """Something is asked about that is neither a name nor a class."""

    def __init__(self, value: str) -> None:
        self.value = value
        super().__init__(f"{value} is neither a declared name nor a class", todo="give one of them")


class UnknownActor(UseError):
    """An actor is not declared."""

    def __init__(self, name: str, *, known: Iterable[str], declaration: str) -> None:
        self.name, self.known = name, tuple(known)
        near = nearest(name, self.known)
        hint = f"did you mean {near!r}? Else add" if near else "add"
        super().__init__(
            f"the actor {name!r} is not declared",
            where=declaration,
            todo=f'{hint} "{name}" = ["<extra>"], or false for the driver\'s interpreter, to [actors]',
        )


class RuntimeEnvConflict(UseError):
    """A field of a runtime environment wants another interpreter than the actor's own."""

    def __init__(self, field: str, *, actor: str, whose: str) -> None:
        self.field, self.actor, self.whose = field, actor, whose
        super().__init__(
            f"{field!r} in {whose} cannot be joined with an environment of its own",
            where=actor,
            todo=f"remove {field!r}, and declare what it brings in the actor's environment",
        )


class EnvFileInRuntimeEnv(UseError):
    """An actor's ``env-file`` would be written to Ray's logs."""

    def __init__(self, actor: str, file: str) -> None:
        self.actor, self.file = actor, file
        super().__init__(
            f"Ray writes runtime environments to its logs, so the values of {file} stay out",
            where=actor,
            todo="read it in the actor, or say runtime_env(..., env_file=True) when it holds no secret",
        )


class RayMissing(UseError):
    """An actor's environment has no Ray."""

    def __init__(self, expected: str, *, actor: str) -> None:
        self.expected, self.actor = expected, actor
        super().__init__(
            "its environment has no ray, and a worker without it never reports",
            where=actor,
            todo=f"add ray=={expected} to its requirements" if expected else "add ray to its requirements",
        )


class RayMismatch(UseError):
    """An actor's environment has another Ray than the cluster."""

    def __init__(self, has: str, expected: str, *, actor: str) -> None:
        self.has, self.expected, self.actor = has, expected, actor
        super().__init__(
            f"its environment has ray {has}, the cluster has {expected}",
            where=actor,
            todo=f"lock ray=={expected}, or allow it with allow_mismatch",
        )


class RayExtraMissing(UseError):
    """An actor's environment lacks packages of an extra of Ray that its use needs."""

    def __init__(self, extra: str, missing: Iterable[str], *, actor: str) -> None:
        self.extra, self.missing, self.actor = extra, tuple(missing), actor
        super().__init__(
            f"its environment lacks {', '.join(self.missing)} of ray[{extra}]",
            where=actor,
            todo=f"add ray[{extra}] to its requirements",
        )


class PatchMismatch(UseError):
    """An actor's Python is another patch release than the cluster's."""

    def __init__(self, has: str, expected: str, *, actor: str) -> None:
        self.has, self.expected, self.actor = has, expected, actor
        super().__init__(
            f"its Python is {has}, the cluster's is {expected}",
            where=actor,
            todo=f"request python {expected} for it, or allow it with allow_mismatch",
        )


class MinorMismatch(UseError):
    """An actor's Python is another minor version than the cluster's: its worker would crash."""

    def __init__(self, has: str, expected: str, *, actor: str) -> None:
        self.has, self.expected, self.actor = has, expected, actor
        super().__init__(
            f"its Python is {has}, the cluster's is {expected}, and a worker of another minor version"
            " crashes",
            where=actor,
            todo=f"request python {expected} for it, or run it as a server",
        )


class UvRunHookActive(UseError):
    """The driver runs under ``uv run``, whose hook in Ray overrides the job's runtime environment."""

    def __init__(self) -> None:
        super().__init__(
            "the driver was started by `uv run`, and Ray's hook would override this for the job",
            todo="set RAY_ENABLE_UV_RUN_RUNTIME_ENV=0 before ray is imported, or ask after ray.init()",
        )


class UnknownNode(UseError):
    """A node is named that the cluster does not have alive."""

    def __init__(self, node: str, *, known: Iterable[str]) -> None:
        self.node, self.known = node, tuple(known)
        super().__init__(f"no node {node!r} is alive", todo=use_one_of(node, self.known))


class ProvisionFailed(FailedError):
    """A node could not make an environment ready."""

    def __init__(self, component: str, key: str, cause: str) -> None:
        self.component, self.key, self.cause = component, key, cause
        super().__init__(f"{key} cannot be made ready here: {cause}", where=component)


class NodesNotReady(FailedError):
    """Some nodes of a cluster do not have all environments ready.

    :param failures: one line for each node and environment.
    """

    def __init__(self, failures: Iterable[str], *, nodes: int) -> None:
        self.failures, self.nodes = tuple(failures), nodes
        self.report: object = None
        """The whole :class:`greenroom.ray.Preparation`."""
        shown = "; ".join(self.failures[:3])
        more = f"; and {len(self.failures) - 3} more" if len(self.failures) > 3 else ""
        super().__init__(f"not ready on all of {nodes} nodes: {shown}{more}")
