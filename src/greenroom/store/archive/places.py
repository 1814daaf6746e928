"""Places where archives are kept: a directory, a web server, or a bucket of a cloud.

An archive's name there is ``<key>.tar.zst``, so a place needs no index. Directories and web servers need
nothing beyond greenroom; buckets are spoken to through obstore (``greenroom[fetch]``): one compiled library
for S3, Google, Azure and what speaks like them, that streams, resumes, uploads in parts and needs neither
asyncio nor a client library of each cloud.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from greenroom.errors import ArchiveAbsent, PlaceFailed, PlaceRefused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import httpx

__all__ = ["Place", "place"]

CONNECT, READ = 10.0, 60.0
"""Seconds that a web server has for accepting, and for each piece."""
_PIECE = 1 << 18
_MISSING = (404, 410)
_ALLOW_HTTP = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")


class Place(Protocol):
    """Where archives are kept."""

    def address(self, key: str) -> str:
        """Return an archive's URL as it may be shown: without a login."""

    def get(self, key: str) -> Iterator[bytes]:
        """Yield an archive's bytes.

        :raises ArchiveAbsent: there is none of this key.
        :raises PlaceFailed: the place does not answer, refuses, or breaks off.
        """

    def put(self, key: str, file: str) -> None:
        """Put an archive there: as a whole or not at all.

        :param file: the archive's path.
        :raises PlaceFailed: the place does not answer, or refuses.
        """


def place(url: str) -> Place:
    """Return the place that a URL names; a path is a directory's.

    :raises PlaceRefused: it is no URL, its scheme is unknown, or it holds a query.
    """
    scheme = urlsplit(url).scheme if "://" in url else ""
    if not scheme:
        return _Directory(os.path.abspath(url))
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise PlaceRefused(_shown(url), "names of archives are appended to it, so it has no query")
    if scheme == "file":
        return _Directory(unquote(parts.path))
    if scheme in {"http", "https"}:
        return _Web(url.rstrip("/"))
    return _Bucket(url.rstrip("/"))


class _Directory:
    """A directory, on a disk or mounted."""

    def __init__(self, path: str) -> None:
        self._path = path

    def address(self, key: str) -> str:
        return f"{self._path}/{key}.tar.zst"

    def get(self, key: str) -> Iterator[bytes]:
        path = self.address(key)
        try:
            with open(path, "rb") as file:
                while piece := file.read(_PIECE):
                    yield piece
        except FileNotFoundError as error:
            raise ArchiveAbsent(path) from error
        except OSError as error:
            raise PlaceFailed(path, f"it cannot be read: {error.strerror}") from error

    def put(self, key: str, file: str) -> None:
        path = self.address(key)
        temporary = f"{path}.{token_hex(6)}"
        try:
            os.makedirs(self._path, exist_ok=True)
            shutil.copyfile(file, temporary)
            os.rename(temporary, path)
        except OSError as error:
            with suppress(OSError):
                os.unlink(temporary)
            raise PlaceFailed(path, f"it cannot be written: {error.strerror}") from error


class _Web:
    """A web server: GET, and PUT where it allows that. Proxies and ``.netrc`` count as for curl."""

    def __init__(self, url: str) -> None:
        self._url = url

    def address(self, key: str) -> str:
        return f"{_shown(self._url)}/{key}.tar.zst"

    def get(self, key: str) -> Iterator[bytes]:
        import httpx  # noqa: PLC0415 - heavy

        try:
            with _client() as client, client.stream("GET", f"{self._url}/{key}.tar.zst") as answer:
                if answer.status_code in _MISSING:
                    raise ArchiveAbsent(self.address(key))
                self._check(key, answer)
                yield from answer.iter_raw(_PIECE)
        except httpx.HTTPError as error:
            raise self._failed(key, error) from error

    def put(self, key: str, file: str) -> None:
        import httpx  # noqa: PLC0415 - heavy

        def pieces() -> Iterator[bytes]:
            with open(file, "rb") as stream:
                while piece := stream.read(_PIECE):
                    yield piece

        length = {"Content-Length": str(os.path.getsize(file)), "Content-Type": "application/zstd"}
        try:
            with _client() as client:
                answer = client.put(f"{self._url}/{key}.tar.zst", content=pieces(), headers=length)
                self._check(key, answer)
        except httpx.HTTPError as error:
            raise self._failed(key, error) from error

    def _check(self, key: str, answer: httpx.Response) -> None:
        if not answer.is_success:
            reason = f"the server answers {answer.status_code} {answer.reason_phrase}".rstrip()
            raise PlaceFailed(self.address(key), reason)

    def _failed(self, key: str, error: Exception) -> PlaceFailed:
        reason = str(error) or type(error).__name__
        return PlaceFailed(self.address(key), f"the server cannot be reached or broke off: {reason}")


class _Bucket:
    """A bucket: logins come from the variables and files that the cloud's own tools use."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            from obstore import store  # noqa: PLC0415 - an extra
        except ImportError as error:
            todo = "pip install 'greenroom[fetch]'"
            raise PlaceRefused(_shown(url), "this needs obstore", todo=todo) from error
        options: Any = {"connect_timeout": f"{CONNECT:.0f}s", "read_timeout": f"{READ:.0f}s", "timeout": "1d"}
        # Options that are given take the place of those that obstore would read from the variables.
        options["allow_http"] = any(os.environ.get(name, "").lower() in {"1", "true"} for name in _ALLOW_HTTP)
        try:
            self._store = store.from_url(url, client_options=options, retry_config={"max_retries": 3})
        except Exception as error:  # what obstore raises has no class of its own for this
            raise PlaceRefused(_shown(url), _first(error)) from error

    def address(self, key: str) -> str:
        return f"{_shown(self._url)}/{key}.tar.zst"

    def get(self, key: str) -> Iterator[bytes]:
        import obstore  # noqa: PLC0415 - an extra

        try:
            for piece in obstore.get(self._store, f"{key}.tar.zst").stream(min_chunk_size=_PIECE):
                yield bytes(piece)
        except FileNotFoundError as error:
            raise ArchiveAbsent(self.address(key)) from error
        except obstore.exceptions.BaseError as error:
            raise PlaceFailed(self.address(key), _first(error)) from error

    def put(self, key: str, file: str) -> None:
        import obstore  # noqa: PLC0415 - an extra

        try:
            with open(file, "rb") as stream:
                obstore.put(self._store, f"{key}.tar.zst", stream)
        except (obstore.exceptions.BaseError, OSError) as error:
            raise PlaceFailed(self.address(key), _first(error)) from error


def _client() -> httpx.Client:
    import httpx  # noqa: PLC0415 - heavy

    return httpx.Client(follow_redirects=True, timeout=httpx.Timeout(READ, connect=CONNECT))


def _first(error: BaseException) -> str:
    """Return the first line of what obstore says; the rest is for its authors."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _shown(url: str) -> str:
    """Return a URL without its login and query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    login = "***@" if "@" in parts.netloc else ""
    return urlunsplit((parts.scheme, login + host, quote(parts.path, safe="/%"), "", ""))
