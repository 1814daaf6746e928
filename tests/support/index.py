"""A real package index on 127.0.0.1: PEP 503, PEP 691, PEP 658, PEP 592, and faults by path.

One server per test process; each test has a namespace of its own (``/<name>/simple/``), so tests
share neither packages nor faults nor entries of uv's cache.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import html
import itertools
import json
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.support import distributions

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Fault", "File", "Index", "Request", "Server"]

JSON = "application/vnd.pypi.simple.v1+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of the index."""

    name: str
    project: str
    content: bytes
    metadata: str | None
    sha256: str
    """What the index says; the true digest unless the test lies."""
    requires_python: str | None
    yanked: str | None
    """The reason; None: not yanked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request that the index answered, or met with a fault."""

    method: str
    path: str
    """Below the namespace: ``/simple/name/``, ``/files/name-1.0-py3-none-any.whl``."""
    status: int
    """0: no complete answer was given."""
    user: str | None


@dataclass(slots=True, kw_only=True)
class Fault:
    """What goes wrong for paths that match a pattern."""

    pattern: str
    status: int | None = None
    slow: float | None = None
    """Bytes per second."""
    cut: int | None = None
    """Bytes of the body after which the connection ends."""
    hang: bool = False
    times: int | None = None
    """How often; None: always."""
    reached: threading.Event = field(default_factory=threading.Event)
    """Set when a request meets the fault."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set it to let hanging requests on (they are then answered as if nothing were wrong)."""

    def wait(self, timeout: float = 60) -> None:
        """Wait until a request has met the fault.

        :param timeout: seconds after which the test fails.
        """
        assert self.reached.wait(timeout), f"no request met the fault of {self.pattern}"


class Index:
    """One namespace of the server: a whole index as a client sees it."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self.name = name
        self._files: dict[str, File] = {}
        self._faults: list[Fault] = []
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self.login: tuple[str, str] | None = None
        self.json = True
        """Whether PEP 691 JSON is offered; else HTML only."""
        self.core_metadata = True
        """Whether ``.metadata`` files are offered (PEP 658)."""
        self.closing = threading.Event()

    @property
    def root(self) -> str:
        """The namespace's URL without a slash at the end and without credentials."""
        return f"http://127.0.0.1:{self._server.port}/{self.name}"

    @property
    def url(self) -> str:
        """The index URL, as for ``UV_DEFAULT_INDEX``."""
        return f"{self.root}/simple/"

    def url_with(self, user: str, password: str) -> str:
        """Return the index URL with credentials in it."""
        return self.url.replace("http://", f"http://{user}:{password}@")

    def file_url(self, name: str) -> str:
        """Return the direct URL of a file."""
        return f"{self.root}/files/{name}"

    def add(
        self,
        project: str,
        name: str,
        content: bytes,
        *,
        metadata: str | None = None,
        sha256: str | None = None,
        requires_python: str | None = None,
        yanked: str | None = None,
    ) -> File:
        """Serve a file as it is.

        :param sha256: what the index claims instead of the truth.
        """
        file = File(
            name=name,
            project=distributions.normalized(project),
            content=content,
            metadata=metadata,
            sha256=sha256 or hashlib.sha256(content).hexdigest(),
            requires_python=requires_python,
            yanked=yanked,
        )
        with self._lock:
            self._files[name] = file
        return file

    def add_wheel(
        self,
        name: str,
        version: str,
        requires: Sequence[str] = (),
        *,
        sha256: str | None = None,
        yanked: str | None = None,
        **options: Any,
    ) -> File:
        """Make and serve a wheel.

        :param options: as for :func:`tests.support.distributions.wheel`.
        """
        file, content, metadata = distributions.wheel(name, version, requires=requires, **options)
        return self.add(
            name,
            file,
            content,
            metadata=metadata,
            sha256=sha256,
            requires_python=options.get("requires_python"),
            yanked=yanked,
        )

    def add_sdist(
        self,
        name: str,
        version: str,
        requires: Sequence[str] = (),
        *,
        sha256: str | None = None,
        yanked: str | None = None,
        **options: Any,
    ) -> File:
        """Make and serve an sdist that builds without network.

        :param options: as for :func:`tests.support.distributions.source_files`.
        """
        file, content, _ = distributions.sdist(name, version, requires=requires, **options)
        return self.add(
            name,
            file,
            content,
            sha256=sha256,
            requires_python=options.get("requires_python"),
            yanked=yanked,
        )

    def remove(self, file: str) -> None:
        """Take a file away, as an index that drops old builds does."""
        with self._lock:
            del self._files[file]

    def require_login(self, user: str, password: str) -> None:
        """Answer 401 to everybody else (basic authentication)."""
        self.login = (user, password)

    def fault(self, pattern: str, **what: Any) -> Fault:
        """Let paths that match go wrong.

        :param pattern: shell pattern for the path below the namespace, for example
            ``/files/big-*.whl`` or ``/simple/private/``.
        :param what: fields of :class:`Fault`.
        """
        fault = Fault(pattern=pattern, **what)
        with self._lock:
            self._faults.append(fault)
        return fault

    def heal(self) -> None:
        """End all faults; hanging requests are answered."""
        with self._lock:
            faults, self._faults = self._faults, []
        for fault in faults:
            fault.over.set()

    @property
    def requests(self) -> tuple[Request, ...]:
        """What was asked so far, in order."""
        with self._lock:
            return tuple(self._requests)

    @property
    def downloads(self) -> tuple[str, ...]:
        """Names of the files that were fetched completely, in order, metadata files aside."""
        return tuple(
            request.path.removeprefix("/files/")
            for request in self.requests
            if request.method == "GET"
            and request.status == HTTPStatus.OK
            and request.path.startswith("/files/")
            and not request.path.endswith(".metadata")
        )

    def close(self) -> None:
        """End all faults and forget the namespace."""
        self.closing.set()
        self.heal()
        self._server.forget(self)

    def fault_of(self, path: str) -> Fault | None:
        """Return the fault that a request for ``path`` meets, and count it."""
        with self._lock:
            for fault in self._faults:
                if fault.times != 0 and fnmatch.fnmatchcase(path, fault.pattern):
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None

    def note(self, request: Request) -> None:
        """Write a request down."""
        with self._lock:
            self._requests.append(request)

    def answer(self, path: str, accept: str) -> tuple[str, bytes] | None:
        """Return content type and body for a path, None when there is nothing."""
        if path.startswith("/files/"):
            return self._file(path.removeprefix("/files/"))
        if path == "/simple/":
            return "text/html", _page((name, f"{name}/", {}) for name in self._projects())
        project = path.removeprefix("/simple/").strip("/")
        files = [file for file in self._snapshot() if file.project == project]
        if not files:
            return None
        if self.json and JSON in accept:
            return JSON, self._json(project, files)
        links = ((file.name, self._link(file), self._attributes(file)) for file in files)
        return "text/html", _page(links)

    def _snapshot(self) -> tuple[File, ...]:
        with self._lock:
            return tuple(self._files.values())

    def _projects(self) -> list[str]:
        return sorted({file.project for file in self._snapshot()})

    def _file(self, name: str) -> tuple[str, bytes] | None:
        with self._lock:
            file = self._files.get(name.removesuffix(".metadata"))
        if file is None:
            return None
        if not name.endswith(".metadata"):
            return "application/octet-stream", file.content
        if file.metadata is None or not self.core_metadata:
            return None
        return "text/plain", file.metadata.encode()

    def _link(self, file: File) -> str:
        return f"{self.file_url(file.name)}#sha256={file.sha256}"

    def _metadata_digest(self, file: File) -> str | None:
        if file.metadata is None or not self.core_metadata:
            return None
        return hashlib.sha256(file.metadata.encode()).hexdigest()

    def _attributes(self, file: File) -> dict[str, str]:
        attributes = {}
        digest = self._metadata_digest(file)
        if digest is not None:
            attributes["data-core-metadata"] = f"sha256={digest}"
        if file.requires_python is not None:
            attributes["data-requires-python"] = file.requires_python
        if file.yanked is not None:
            attributes["data-yanked"] = file.yanked
        return attributes

    def _json(self, project: str, files: Sequence[File]) -> bytes:
        entries = []
        for file in files:
            digest = self._metadata_digest(file)
            entry: dict[str, Any] = {
                "filename": file.name,
                "url": self.file_url(file.name),
                "hashes": {"sha256": file.sha256},
                "size": len(file.content),
                "upload-time": "2020-01-01T00:00:00Z",
                "core-metadata": {"sha256": digest} if digest else False,
                "yanked": False if file.yanked is None else file.yanked or True,
            }
            if file.requires_python is not None:
                entry["requires-python"] = file.requires_python
            entries.append(entry)
        page = {"meta": {"api-version": "1.1"}, "name": project, "files": entries}
        return json.dumps(page).encode()


def _page(links: Any) -> bytes:
    lines = ["<!DOCTYPE html><html><body>"]
    for text, href, attributes in links:
        more = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
        lines.append(f'<a href="{html.escape(href)}"{more}>{html.escape(text)}</a><br>')
    return "\n".join([*lines, "</body></html>"]).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HTTPServer

    def do_GET(self) -> None:
        self._respond(body=True)

    def do_HEAD(self) -> None:
        self._respond(body=False)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keep the tests' output quiet; requests are in the index's own log."""

    def _respond(self, *, body: bool) -> None:
        _, name, *rest = self.path.split("/", 2)
        index = self.server.owner.namespace(name)
        path = "/" + unquote("".join(rest))
        if index is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such index", body=body)
            return
        status = 0
        try:
            status = self._serve(index, path, body=body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            index.note(Request(method=self.command, path=path, status=status, user=self._user()))

    def _serve(self, index: Index, path: str, *, body: bool) -> int:
        fault = index.fault_of(path)
        if fault is not None:
            fault.reached.set()
            if fault.hang:
                fault.over.wait()
                if index.closing.is_set():
                    self.close_connection = True
                    return 0
            if fault.status is not None:
                return self._send(fault.status, "text/plain", b"a fault of the test", body=body)
        if index.login is not None and self._credentials() != index.login:
            return self._send(HTTPStatus.UNAUTHORIZED, "text/plain", b"log in", body=body)
        answer = index.answer(path, self.headers.get("Accept", ""))
        if answer is None:
            return self._send(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here", body=body)
        return self._send(HTTPStatus.OK, *answer, body=body, fault=fault, closing=index.closing)

    def _send(
        self,
        status: int,
        kind: str,
        content: bytes,
        *,
        body: bool,
        fault: Fault | None = None,
        closing: threading.Event | None = None,
    ) -> int:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        fixed = kind == "application/octet-stream"
        self.send_header("Cache-Control", "max-age=365000000, immutable" if fixed else "no-cache")
        if status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
        self.end_headers()
        if not body:
            return int(status)
        if fault is not None and fault.cut is not None:
            self.wfile.write(content[: fault.cut])
            self.wfile.flush()
            self.close_connection = True
            return 0
        if fault is not None and fault.slow is not None and closing is not None:
            self._send_slowly(content, fault, closing)
            return int(status)
        self.wfile.write(content)
        return int(status)

    def _send_slowly(self, content: bytes, fault: Fault, closing: threading.Event) -> None:
        step = max(1, int((fault.slow or 1) / 20))
        for start in range(0, len(content), step):
            self.wfile.write(content[start : start + step])
            self.wfile.flush()
            if not fault.over.is_set():
                closing.wait(0.05)

    def _credentials(self) -> tuple[str, str] | None:
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        user, _, password = base64.b64decode(value).decode().partition(":")
        return user, password

    def _user(self) -> str | None:
        credentials = self._credentials()
        return credentials[0] if credentials else None


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: Server

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet when a client goes away: killed clients are what some tests want."""


class Server:
    """The HTTP server of one test process, with a namespace for each index."""

    def __init__(self) -> None:
        self._http = _HTTPServer(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self.port: int = self._http.server_address[1]
        self._indexes: dict[str, Index] = {}
        self._numbers = itertools.count(1)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def index(self, name: str | None = None) -> Index:
        """Open a namespace: an empty index."""
        index = Index(self, name or f"i{next(self._numbers)}")
        self._indexes[index.name] = index
        return index

    def namespace(self, name: str) -> Index | None:
        """Return the index of that name."""
        return self._indexes.get(name)

    def forget(self, index: Index) -> None:
        """Answer 404 for this index from now on."""
        self._indexes.pop(index.name, None)

    def close(self) -> None:
        """Stop serving."""
        for index in tuple(self._indexes.values()):
            index.close()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
