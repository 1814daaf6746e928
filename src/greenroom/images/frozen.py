"""The fingerprint of an image as data: read at run time, so with few imports."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from greenroom.errors import ImageNotFrozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.store.layout import Store

__all__ = ["Frozen", "FrozenEnvironment", "Source", "digest", "place", "read"]

SCHEMA = 1
NAME = "image.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A local source whose files decide something."""

    name: str
    path: str
    kind: str
    """``metadata``: of an editable; ``tree``: everything counts."""
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenEnvironment:
    """One environment of the image."""

    key: str
    components: tuple[str, ...]
    state: str
    stages: tuple[str, ...]
    """Those that bring something, in their order."""
    pending: tuple[str, ...] = ()
    uv: str = ""
    """The version of uv that installed it last."""
    late: tuple[tuple[str, str], ...] = ()
    """Late package -> sha256 of the wheel that its stage brought: the key does not tell it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """An image's fingerprint."""

    schema: int
    greenroom: str
    platform: str
    declaration: str
    store: str
    stages: tuple[str, ...]
    environments: tuple[FrozenEnvironment, ...]
    inputs: tuple[tuple[str, str | None], ...]
    """File -> sha256 of its content; None: it was absent."""
    sources: tuple[Source, ...]
    variables: tuple[tuple[str, str | None], ...]
    """Variable that decides something -> sha256 of its value; None: it was not set."""

    @property
    def fingerprint(self) -> str:
        """Return one text that two images with the same content have in common."""
        parts = [self.platform, *self.stages]
        for found in self.environments:
            parts += [found.key, found.state, *found.pending, *(f"{name}@{at}" for name, at in found.late)]
        return sha256("\n".join(parts).encode()).hexdigest()


def read(stores: Iterable[Store]) -> Frozen:
    """Return the fingerprint of the first store that has one.

    :raises ImageNotFrozen: none has, or it cannot be read.
    """
    looked = [place(store) for store in stores]
    for file in looked:
        try:
            with open(file, "rb") as stream:
                found = msgspec.json.decode(stream.read(), type=Frozen)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.MsgspecError, ValueError) as error:
            raise ImageNotFrozen(file, f"it is damaged: {error}") from error
        if found.schema != SCHEMA:
            raise ImageNotFrozen(file, f"it was written by another greenroom (schema {found.schema})")
        return found
    raise ImageNotFrozen(", ".join(looked))


def place(store: Store) -> str:
    """Return where a store's fingerprint stands."""
    return f"{store.inner}/{NAME}"


def digest(source: Source) -> str:
    """Return the digest that a source has now."""
    from greenroom.recipes import local  # noqa: PLC0415 - many images have no such source

    return local.metadata_digest(source.path) if source.kind == "metadata" else local.tree_digest(source.path)
