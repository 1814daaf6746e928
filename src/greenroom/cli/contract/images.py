"""What an image holds, did and drifted from: the JSON data of ``image``."""

from __future__ import annotations

from typing import TypedDict

from greenroom.cli.contract.reports import Problem  # noqa: TC001 - the documentation is made from it

__all__ = ["Drifted", "Image", "ImageEnvironment"]


class ImageEnvironment(TypedDict):
    """One environment of the image."""

    key: str
    components: list[str]
    state: str
    action: str
    """``sync``: ``built``, ``continued``, ``ready``, ``unchanged``, ``later`` or ``failed``; else empty."""
    stages: dict[str, int]
    """``plan``: stage -> how many packages it brings."""
    brought: list[str]
    """``sync``: packages that this stage added to a partial environment."""
    pending: list[str]
    """Packages that are still to come."""
    waits_for: list[str]
    """The stages that bring them."""
    missed: list[str]
    """Those of them that come before the stage that ran: they were skipped."""
    seconds: float
    late: dict[str, str]
    """``freeze``, ``verify``: late package -> sha256 of the wheel that its stage brought."""
    packages: int
    download: int
    """``plan``: bytes, as far as the lock says."""
    own_download: int
    """``plan``: bytes that no environment before it downloads."""
    size: int | None
    """``plan``: bytes on disk; null: not built."""
    adds: int | None
    """``plan --sizes``: bytes that it adds, what it shares with those before it left out."""
    began: float | None
    """``plan``: when its last stage began, seconds since the epoch."""


class Drifted(TypedDict):
    """Components for which the image is not what the declaration asks for now."""

    components: list[str]
    key: str | None
    """What the image holds for them."""
    wanted: str | None
    """What they ask for; null: cannot be told."""
    kind: str
    """``changed``, ``new``, ``missing``, ``damaged``, ``problem``; ``metadata`` alone is no failure."""
    differences: list[str]


class Image(TypedDict):
    """``image``: what was done or found; ``sync`` and ``verify`` print events before it."""

    action: str
    stage: str | None
    """``sync``: the one that ran."""
    stages: list[str]
    """All, in their order."""
    cache_keys: dict[str, str]
    """``plan``: stage -> a text that changes when what the stage builds does."""
    environments: list[ImageEnvironment]
    drivers: list[str]
    """``plan``: components on the driver's interpreter."""
    skipped: dict[str, str]
    """``sync``: component -> the extra by which it was skipped."""
    files: dict[str, str]
    """``dockerfile``: file -> its text; ``wrappers``: component -> the path that starts its interpreter."""
    fingerprint: str | None
    """``freeze``, ``verify``: equal for images with the same content."""
    policy: str | None
    """``verify``: ``error``, ``warn`` or ``rebuild``."""
    drift: list[Drifted]
    rebuilt: list[str]
    """``verify``: keys that the policy ``rebuild`` built in the first writable store."""
    linked: int
    """``sync``: files that environments of this stage share since it ended."""
    removed: int
    """``prune-cache``: files."""
    freed: int
    """``prune-cache``: bytes."""
    notes: list[str]
    problems: list[Problem]
