"""Tell what the missing environments need of the places that they are built in."""

from __future__ import annotations

import os

from greenroom.checks.files import needed_files
from greenroom.checks.places import Needs
from greenroom.errors import GreenroomError
from greenroom.recipes.model import Wheel
from greenroom.store import layout, records
from greenroom.uv.settings import transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.checks.facts import Facts, Wanted
    from greenroom.store.layout import Store

__all__ = ["needs"]

_UNPACKED = 3
"""Wheels unpack to about three times their size; only used where no earlier build tells."""


def needs(facts: Facts) -> Needs:
    """Return what is needed of which places."""
    missing = facts.missing
    least, likely = _bytes(facts, missing)
    found = (wanted.interpreter for wanted in facts.wanted if not wanted.assumed)
    paths = [*(store.path for store in facts.stores), *(python.path for python in found if python)]
    return Needs(
        stores=tuple((store.path, store.writable) for store in facts.stores),
        missing=tuple(name for wanted in missing for name in wanted.names),
        least=least,
        likely=likely,
        cache=_uv_cache(facts),
        paths=tuple(dict.fromkeys(paths)),
    )


def _bytes(facts: Facts, missing: Iterable[Wanted]) -> tuple[int, int]:
    """Return the bytes that are needed at least and likely: a file counts once, links cost nothing."""
    known = _installed_sizes(facts.stores)
    wheels = {
        one.content.sha256
        for wanted in missing
        if wanted.recipe is not None
        for one in wanted.recipe.distributions
        if isinstance(one.content, Wheel)
    }
    least = likely = sum(known[sha256] for sha256 in wheels if sha256 in known)
    for place, (_, size) in needed_files(missing).items():
        if place not in known:
            least += size or 0
            likely += _UNPACKED * (size or 0)
    return least, likely


def _installed_sizes(stores: Iterable[Store]) -> dict[str, int]:
    """Return the bytes of distributions that were installed before: wheel's digest -> bytes."""
    found: dict[str, int] = {}
    for store in stores:
        try:
            keys = layout.keys(store)
        except GreenroomError:  # the store is not there yet
            continue
        for key in keys:
            try:
                record = records.read(store, key)
            except GreenroomError:  # damaged: status says so
                continue
            for one in record.installed if record else ():
                if one.wheel is not None:
                    found[one.wheel] = one.size
    return found


def _uv_cache(facts: Facts) -> str:
    """Return the directory of uv's cache (https://docs.astral.sh/uv/reference/storage/)."""
    named = facts.environ.get("UV_CACHE_DIR")
    try:
        said = dict(transport(facts.environ).values).get("cache-dir", "").strip("\"'")
    except GreenroomError:  # said where uv is checked
        said = ""
    home = facts.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(home):
        home = os.path.join(facts.environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return os.path.abspath(named or said or os.path.join(home, "uv"))
