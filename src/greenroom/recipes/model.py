"""What an environment contains, as plain data: no path of this machine beyond local sources, no URL.

Everything in a :class:`Recipe` is in the key; what is not in the key stands in :class:`Supply`.
"""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.components import Index, Pairs
from greenroom.locks.model import BuildSettings, Commit, Directory, File

__all__ = [
    "Build",
    "BuildInputs",
    "Distribution",
    "Editable",
    "Late",
    "Origins",
    "Python",
    "Recipe",
    "Supply",
    "Wheel",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel of an index or a direct URL, chosen for the target's tags."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildInputs:
    """What decides what a build of a source gives, beside source and interpreter."""

    requires: tuple[str, ...] = ()
    """Extra build requirements, pinned where they follow the environment."""
    constraints: tuple[str, ...] = ()
    settings: Pairs = ()
    variables: tuple[tuple[str, str | None], ...] = ()
    """``build-env`` and the source's own build variables with their values; None: not set."""
    isolated: bool = True
    sees: tuple[str, ...] = ()
    """``name==version@digest``, sorted: without isolation what the build sees of the environment;
    with isolation what ``match-runtime`` takes from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A source that greenroom builds once into a wheel of its own store."""

    source: str
    """``sha256:<hex>`` of an sdist or archive, ``git:<commit>``, or ``tree:<hex>`` of a directory."""
    subdirectory: str | None
    inputs: BuildInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Editable:
    """A local source installed in place: its path counts, its code does not.

    Its metadata files (``pyproject.toml`` …) are not here but in :attr:`Supply.metadata`: they may be
    absent where the key is told (an image's dependency layer), and the key must be the same there.
    """

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A package that a later image stage brings: name and version count, the wheel does not."""


Content = Wheel | Build | Editable | Late


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One distribution with the one content chosen for it."""

    name: str
    version: str | None
    """None for local sources: theirs is what their metadata files say when they are built in."""
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """The interpreter's part of the content."""

    path: str
    implementation: str
    version: str
    abi: str
    system: str = ""
    """``sys.platform`` and machine (``linux-x86_64``): two machine types on one store share nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One environment's content for one interpreter."""

    python: Python
    distributions: tuple[Distribution, ...]
    """Sorted by name."""
    post_install: tuple[tuple[str, ...], ...] = ()
    last: tuple[str, ...] = ()
    """``allow-clash``: the packages installed last, in this order."""
    bytecode: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """Where the bytes of one distribution come from; never in the key."""

    name: str
    file: File | None = None
    """The chosen wheel, sdist or archive."""
    commit: Commit | None = None
    directory: Directory | None = None
    index: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """What the builder needs beside the recipe and what leaves the content as it is."""

    origins: tuple[Origins, ...]
    """One for each distribution of the recipe, same order."""
    settings: BuildSettings
    indexes: tuple[Index, ...] = ()
    link_mode: str | None = None
    smoke: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    """Names of the distributions that are local sources: the last step."""
    metadata: Pairs = ()
    """Editable's name -> sha256 of its metadata files, empty when the source is absent. The record
    keeps it; a difference makes the environment's local step stale (``recipes.local.changes``)."""
    files: tuple[str, ...] = ()
    """Files and folders of local sources whose stat decides this recipe, absent ones included."""
    notes: tuple[str, ...] = ()
    """What cannot be known here and is worth one line: sources that are absent."""
    build_env: tuple[tuple[str, str | None], ...] = ()
    """``build-env`` with its values, for building what is installed in place; None: not set."""
