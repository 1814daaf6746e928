"""Remember in the store which interpreter answered which request, so that launching never asks uv."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.store.layout import Store

__all__ = ["remember", "remembered"]

SCHEMA = 1


def remembered(stores: Iterable[Store]) -> dict[str, str]:
    """Return request -> interpreter's path; what an earlier store says counts more."""
    found: dict[str, str] = {}
    for store in stores:
        for request, path in _read(store.interpreters).items():
            found.setdefault(request, path)
    return found


def remember(store: Store, choices: Mapping[str, str]) -> None:
    """Add choices to a store's memory; a store that cannot be written keeps what it has."""
    known = _read(store.interpreters)
    if known | dict(choices) == known:
        return
    private = f"{store.interpreters}.{os.getpid()}"
    try:
        with open(private, "w", encoding="utf-8") as stream:
            json.dump({"schema": SCHEMA, "choices": known | dict(choices)}, stream, indent=1, sort_keys=True)
        os.chmod(private, 0o644)
        os.replace(private, store.interpreters)
    except OSError:
        if os.path.lexists(private):
            os.remove(private)


def _read(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
        if data["schema"] != SCHEMA:
            return {}
        return {str(request): str(found) for request, found in data["choices"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
