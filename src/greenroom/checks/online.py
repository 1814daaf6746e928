"""Ask the network, only when told to, whether the indexes are there and let us in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

from greenroom.builder.fetching import Fetcher
from greenroom.checks.model import Finding, Severity
from greenroom.errors import GreenroomError
from greenroom.uv.secrets import mask, secrets_of
from greenroom.uv.settings import transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts
    from greenroom.components import Index

__all__ = ["check"]

_AT_ONCE = 8
_UNAUTHORIZED = (401, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Something to ask for: a package's page of an index, or a file."""

    url: str
    shown: str
    """What it stands for: an index's URL, or a host of direct URLs."""
    index: str | None
    components: tuple[str, ...]


def check(facts: Facts) -> Iterator[Finding]:
    """Yield the indexes and hosts that do not answer or do not let us in.

    One page of each index that the locks or the declaration name is asked for, and one file of each
    host that a lock takes direct URLs from.
    """
    places = _places(facts)
    indexes = tuple(dict.fromkeys(index for wanted in facts.wanted for index in wanted.spec.options.indexes))
    fetcher = _fetcher(facts)
    try:
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
            answers = threads.map(
                lambda place: fetcher.status(place.url, indexes=indexes, index=place.index), places
            )
            for place, answer in zip(places, answers, strict=True):
                yield from _finding(facts, place, answer, indexes)
    finally:
        fetcher.close()


def _fetcher(facts: Facts) -> Fetcher:
    try:
        values = dict(transport(facts.environ).values)
    except GreenroomError:  # said where uv is checked
        values = {}
    native = facts.environ.get("UV_NATIVE_TLS") or facts.environ.get("UV_SYSTEM_CERTS")
    said = "true" in {values.get("native-tls"), values.get("system-certs")}
    insecure = tuple((facts.environ.get("UV_INSECURE_HOST") or "").split())
    return Fetcher(facts.environ, insecure=insecure, system_certificates=bool(native) or said)


def _places(facts: Facts) -> list[_Place]:
    pages: dict[str, tuple[str, dict[str, None]]] = {}
    hosts: dict[str, tuple[str, dict[str, None]]] = {}
    for wanted in facts.wanted:
        for origin in wanted.supply.origins if wanted.supply else ():
            if origin.index is not None and "://" in origin.index:
                page = f"{origin.index.rstrip('/')}/{origin.name}/"
                pages.setdefault(origin.index.rstrip("/"), (page, {}))[1].update(dict.fromkeys(wanted.names))
            elif origin.file is not None and "://" in origin.file.location:
                host = urlsplit(origin.file.location).hostname or ""
                hosts.setdefault(host, (origin.file.location, {}))[1].update(dict.fromkeys(wanted.names))
        for index in wanted.spec.options.indexes:
            pages.setdefault(index.url.rstrip("/"), (f"{index.url.rstrip('/')}/", {}))[1].update(
                dict.fromkeys(wanted.names)
            )
        if wanted.supply is None and not wanted.spec.options.indexes:
            # Not locked yet: the index that a lock would ask, where one is said; uv's own default is uv's.
            default = facts.environ.get("UV_DEFAULT_INDEX") or facts.environ.get("UV_INDEX_URL")
            if default:
                pages.setdefault(default.rstrip("/"), (f"{default.rstrip('/')}/", {}))[1].update(
                    dict.fromkeys(wanted.names)
                )
    return [
        *(
            _Place(url=page, shown=f"the index {mask(index)}", index=index, components=tuple(names))
            for index, (page, names) in pages.items()
        ),
        *(
            _Place(url=file, shown=f"{mask(file)}", index=None, components=tuple(names))
            for file, names in hosts.values()
        ),
    ]


def _finding(facts: Facts, place: _Place, answer: int | str, indexes: tuple[Index, ...]) -> Iterator[Finding]:
    todo = None
    if isinstance(answer, str):
        what = f"{place.shown} is out of reach: {answer}"
        todo = "see to the network, the proxy variables or the URL; greenroom sync --offline uses caches"
    elif answer in _UNAUTHORIZED:
        what = f"{place.shown} does not let us in: status {answer}"
        todo = f"give credentials: {_variables(place, indexes)}, or a netrc file"
    elif answer >= 400:
        what = f"{place.shown} does not answer as it should: status {answer} for {mask(place.url)}"
    else:
        return
    yield Finding(
        check="online",
        severity=Severity.ERROR,
        what=mask(what, secrets_of(facts.environ)),
        todo=todo,
        components=place.components,
    )


def _variables(place: _Place, indexes: tuple[Index, ...]) -> str:
    """Return the credentials' variables of an index by its declared name."""
    name = next((index.name for index in indexes if index.url.rstrip("/") == place.index), None)
    stem = "".join(letter if letter.isalnum() else "_" for letter in name.upper()) if name else "<NAME>"
    return f"UV_INDEX_{stem}_USERNAME and UV_INDEX_{stem}_PASSWORD"
