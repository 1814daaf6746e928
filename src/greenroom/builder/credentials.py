"""Find the credentials for a URL where uv finds them: index variables, user info, netrc."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.components import Index

__all__ = ["Login", "bare", "login_for"]

_URL_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A user's name and password; neither is shown by ``repr``."""

    user: str = field(repr=False)
    password: str = field(repr=False)


def bare(url: str) -> str:
    """Return the URL without user info."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def login_for(
    url: str, environ: Mapping[str, str], indexes: Iterable[Index] = (), *, index: str | None = None
) -> Login | None:
    """Return the credentials for ``url``, None when none are known.

    As in uv, credentials of an index count for every URL of its scheme, host and port; the index
    whose URL shares the longest path with ``url`` is asked first.

    :param indexes: the indexes by name (``UV_INDEX_<NAME>_USERNAME`` and ``_PASSWORD``).
    :param index: the URL of the index that the file is listed in.
    """
    own = _userinfo(url)
    if own is not None:
        return own
    found: list[tuple[bool, int, Login]] = []
    for candidate, login in (*_by_name(environ, indexes), *_in_urls(environ, indexes)):
        if login is not None and _realm(candidate) == _realm(url):
            listed = index is not None and bare(candidate).rstrip("/") == bare(index).rstrip("/")
            found.append((listed, _shared(bare(candidate), url), login))
    if found:
        return max(found, key=lambda entry: entry[:2])[2]
    return _from_netrc(url, environ)


def _by_name(environ: Mapping[str, str], indexes: Iterable[Index]) -> Iterator[tuple[str, Login | None]]:
    for entry in indexes:
        stem = "UV_INDEX_" + re.sub(r"[^A-Z0-9]", "_", entry.name.upper())
        user, password = environ.get(f"{stem}_USERNAME"), environ.get(f"{stem}_PASSWORD")
        if user or password:
            yield entry.url, Login(user=user or "", password=password or "")


def _in_urls(environ: Mapping[str, str], indexes: Iterable[Index]) -> Iterator[tuple[str, Login | None]]:
    for entry in indexes:
        yield entry.url, _userinfo(entry.url)
    for name in _URL_VARIABLES:
        for value in environ.get(name, "").split():
            # UV_INDEX takes name=url too.
            url = value if re.match(r"[a-z+]+://", value) else value.partition("=")[2]
            yield url, _userinfo(url)


def _userinfo(url: str) -> Login | None:
    userinfo, at, _ = urlsplit(url).netloc.rpartition("@")
    if not at:
        return None
    user, _, password = userinfo.partition(":")
    return Login(user=unquote(user), password=unquote(password))


def _realm(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.scheme, parts.hostname or "", port or _PORTS.get(parts.scheme)


def _shared(first: str, second: str) -> int:
    """Return how many characters two URLs begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))


def _from_netrc(url: str, environ: Mapping[str, str]) -> Login | None:
    from netrc import NetrcParseError, netrc  # noqa: PLC0415 - only when nothing else is known

    home = environ.get("HOME", "")
    path = environ.get("NETRC") or (os.path.join(home, ".netrc") if home else "")
    if not path or not os.path.isfile(path):
        return None
    try:
        entry = netrc(path).authenticators(urlsplit(url).hostname or "")
    except (NetrcParseError, OSError, UnicodeDecodeError):
        return None
    return Login(user=entry[0], password=entry[2] or "") if entry else None
