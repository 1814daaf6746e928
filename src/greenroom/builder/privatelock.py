"""Write the private ``pylock.toml`` of one install: exactly one file for each distribution (PEP 751)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.builder.credentials import bare
from greenroom.uv import toml

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Chosen", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The one wheel that is installed for a distribution."""

    name: str
    version: str
    file: str
    """File name: it holds the tags."""
    location: str
    """URL, or absolute path."""
    sha256: str
    index: str | None = None
    """URL of the index that lists it: uv finds it in its cache by that."""


def text(chosen: Iterable[Chosen] = (), *, editable: Iterable[tuple[str, str]] = ()) -> str:
    """Return the lock's text; it has no credentials.

    :param editable: names and absolute paths of local sources that are installed in place.
    """
    lines = ['lock-version = "1.0"', 'created-by = "greenroom"', "packages = ["]
    lines += (f"  {_package(item)}," for item in chosen)
    for name, path in editable:
        table = {"name": name, "directory": {"path": path, "editable": True}}
        lines.append(f"  {toml.inline(table)},")
    return "\n".join([*lines, "]"]) + "\n"


def _package(item: Chosen) -> str:
    local = os.path.isabs(item.location)
    wheel = {
        "name": item.file,
        "path" if local else "url": item.location if local else bare(item.location),
        "hashes": {"sha256": item.sha256},
    }
    table: dict[str, object] = {"name": item.name, "version": item.version}
    if item.index is not None and not local:
        table["index"] = bare(item.index)
    return toml.inline(table | {"wheels": [wheel]})
