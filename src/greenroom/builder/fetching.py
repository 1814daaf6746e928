"""Fetch one file of a pinned digest over HTTP: streamed to disk, checked, retried."""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from greenroom.builder.credentials import bare, login_for
from greenroom.errors import FetchFailed, HashMismatch
from greenroom.uv.secrets import mask

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator, Mapping

    import httpx

    from greenroom.components import Index
    from greenroom.errors import BuildFailed

__all__ = ["Failing", "Fetcher", "sha256_of"]

ATTEMPTS = 3
"""Of a fetch that fails in a way that may pass: no connection, a time-out, status 5xx or 429."""
PATIENCE = 30.0
"""Seconds without a byte, unless ``UV_HTTP_TIMEOUT`` says otherwise (uv's own default)."""
_BLOCK = 1 << 20
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_ADVICE = {
    401: "set UV_INDEX_<NAME>_USERNAME and UV_INDEX_<NAME>_PASSWORD, or use a netrc file",
    403: "the credentials that were used may not read it",
    404: "the index no longer has this file: lock anew",
    410: "the index no longer has this file: lock anew",
}


class Failing(Protocol):
    """Whoever makes an error of a cause: it knows component, phase and log."""

    def __call__(self, cause: str, kind: type[BuildFailed], todo: str | None = None) -> BuildFailed:
        """Return the error to raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passing:
    """A failure that another attempt may not meet."""

    cause: str


class Fetcher:
    """The HTTP client of one run; the client itself is made at the first fetch.

    :param environ: the caller's variables: proxies, certificates, credentials and time-out.
    :param insecure: hosts whose certificates are not checked (uv's ``allow-insecure-host``).
    :param system_certificates: trust what the operating system trusts.
    :param stopped: set when the run ends: no further attempt is made.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        insecure: tuple[str, ...] = (),
        system_certificates: bool = False,
        stopped: threading.Event | None = None,
    ) -> None:
        self._environ = environ
        self._insecure = insecure
        self._system_certificates = system_certificates
        self._stopped = stopped or threading.Event()
        self._making = threading.Lock()
        self._client: httpx.Client | None = None

    def fetch(
        self,
        url: str,
        target: str,
        *,
        sha256: str,
        failing: Failing,
        indexes: tuple[Index, ...] = (),
        index: str | None = None,
    ) -> None:
        """Write what ``url`` holds to ``target``.

        :param target: absolute path; left absent when anything fails.
        :param sha256: hexadecimal digest that the content must have.
        :param index: URL of the index that lists the file: its credentials are asked first.
        :raises FetchFailed: refused, not there, cut off or out of reach.
        :raises HashMismatch: the content is another one.
        """
        login = login_for(url, self._environ, indexes, index=index)
        shown = mask(url)
        known = (login.user, login.password) if login else None
        failed: _Passing | None = None
        for attempt in range(ATTEMPTS):
            # The waiting ends at once when the run is stopped; it synchronizes with nothing.
            if attempt and self._stopped.wait(0.3 * 2**attempt):
                break
            failed = self._attempt(bare(url), target, known, shown, failing)
            if failed is None:
                _check(target, sha256, shown, failing)
                return
        cause = failed.cause if failed else "stopped"
        raise failing(f"{shown}: {cause}", FetchFailed)

    def status(self, url: str, *, indexes: tuple[Index, ...] = (), index: str | None = None) -> int | str:
        """Ask for something without reading it, once.

        :returns: its HTTP status, or in words why there is no answer; credentials masked.
        """
        import httpx  # noqa: PLC0415 - heavy: only where the network is asked

        login = login_for(url, self._environ, indexes, index=index)
        known = (login.user, login.password) if login else None
        try:
            with self._made().stream("GET", bare(url), auth=known) as response:
                return response.status_code
        except httpx.TimeoutException:
            return "no answer in time"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return mask(str(error)) or type(error).__name__

    def close(self) -> None:
        """Close the connections, also under a thread that is reading: it fails at once."""
        with self._making:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _attempt(
        self, url: str, target: str, login: tuple[str, str] | None, shown: str, failing: Failing
    ) -> _Passing | None:
        import httpx  # noqa: PLC0415 - heavy: only where a source is fetched

        part = f"{target}.part"
        try:
            with self._made().stream("GET", url, auth=login) as response:
                if response.status_code in _PASSING:
                    return _Passing(cause=f"status {response.status_code} {response.reason_phrase}")
                if response.status_code != httpx.codes.OK:
                    raise _refused(response, shown, failing, known=login is not None)
                with open(part, "wb") as file:
                    for block in response.iter_raw(_BLOCK):
                        if self._stopped.is_set():
                            return _Passing(cause="stopped")
                        file.write(block)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise failing(f"{shown}: {error}", FetchFailed) from error
        except httpx.TimeoutException as error:
            return _Passing(cause=f"no answer in time ({type(error).__name__})")
        except httpx.HTTPError as error:
            return _Passing(cause=mask(str(error)) or type(error).__name__)
        except RuntimeError as error:  # httpx: the client was closed meanwhile
            if self._stopped.is_set():
                return _Passing(cause="stopped")
            raise failing(f"{shown}: {error}", FetchFailed) from error
        os.replace(part, target)
        return None

    def _made(self) -> httpx.Client:
        with self._making:
            if self._client is None:
                self._client = self._make()
            return self._client

    def _make(self) -> httpx.Client:
        import httpx  # noqa: PLC0415 - heavy: only where a source is fetched

        trusted = self._trusted()
        mounts: dict[str, httpx.BaseTransport | None] = {}
        for pattern, proxy in _proxies(self._environ):
            mounts[pattern] = httpx.HTTPTransport(proxy=proxy, verify=trusted) if proxy else None
        for host in self._insecure:
            pattern = host if "://" in host else f"all://{host}"
            mounts[pattern] = httpx.HTTPTransport(verify=False)  # the operator asked for this host
        return httpx.Client(
            mounts=mounts,
            verify=trusted,
            trust_env=False,  # os.environ decides nothing: what counts was handed over
            follow_redirects=True,
            timeout=_timeout(self._environ),
            headers={"Accept-Encoding": "identity", "User-Agent": "greenroom"},
        )

    def _trusted(self) -> ssl.SSLContext | bool:
        import ssl  # noqa: PLC0415 - only where a source is fetched

        file = self._environ.get("SSL_CERT_FILE") or None
        directory = self._environ.get("SSL_CERT_DIR") or None
        if (file and os.path.exists(file)) or (directory and os.path.isdir(directory.split(os.pathsep)[0])):
            return ssl.create_default_context(cafile=file, capath=None if file else directory)
        return ssl.create_default_context() if self._system_certificates else True


def sha256_of(path: str) -> str:
    """Return the hexadecimal sha256 of a file.

    :raises OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(target: str, sha256: str, shown: str, failing: Failing) -> None:
    found = sha256_of(target)
    if found != sha256:
        os.unlink(target)
        cause = f"{shown}: the lock pins sha256 {sha256}, this is {found}"
        raise failing(cause, HashMismatch, "ask the index's operator, then lock anew")


def _refused(response: httpx.Response, shown: str, failing: Failing, *, known: bool) -> BuildFailed:
    status = response.status_code
    tried = "" if status != 401 else " with the known credentials" if known else " without credentials"
    cause = f"{shown}: status {status} {response.reason_phrase}{tried}"
    return failing(cause, FetchFailed, _ADVICE.get(status))


def _timeout(environ: Mapping[str, str]) -> float:
    for name in ("UV_HTTP_TIMEOUT", "UV_REQUEST_TIMEOUT", "HTTP_TIMEOUT"):
        try:
            seconds = float(environ.get(name, ""))
        except ValueError:
            continue
        if seconds > 0:
            return seconds
    return PATIENCE


def _proxies(environ: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Yield httpx's mount patterns: the proxy variables, lower case first as everywhere.

    ``HTTP_PROXY`` in upper case is not looked at when ``REQUEST_METHOD`` is set (httpoxy).
    """
    for scheme in ("http", "https", "all"):
        hidden = scheme == "http" and "REQUEST_METHOD" in environ
        proxy = environ.get(f"{scheme}_proxy") or (not hidden and environ.get(f"{scheme.upper()}_PROXY"))
        if proxy:
            yield f"{scheme}://", proxy if "://" in proxy else f"http://{proxy}"
    for host in (environ.get("no_proxy") or environ.get("NO_PROXY") or "").split(","):
        name = host.strip()
        if name == "*":
            yield "all://", None
        elif "://" in name:
            yield name, None
        elif name.startswith("."):
            yield f"all://*{name}", None
        elif name:
            yield f"all://{name}", None
            if not name.replace(".", "").isdigit() and ":" not in name:
                yield f"all://*.{name}", None
