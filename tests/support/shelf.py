"""A small web server that keeps what is put there: as a web server does, and as a bucket of S3."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Shelf"]


class Shelf:
    """GET and PUT below a URL; what is put is in ``files`` by its path."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.cut: int | None = None
        """Bytes after which an answer breaks off; None: never."""
        self.status: int | None = None
        """What every request is answered; None: as it is right."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Request", (_Request,), {"shelf": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The server's URL, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"


class _Request(BaseHTTPRequestHandler):
    shelf: Shelf
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._noted()
        found = self.shelf.files.get(self._path)
        if found is None or self.shelf.status is not None:
            self._answer(self.shelf.status or 404)
            return
        start = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0]
        content = found[int(start) :]
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", "Tue, 01 Dec 2026 16:00:00 GMT")
        self.send_header("ETag", '"1"')
        if "Range" in self.headers:
            self.send_header("Content-Range", f"bytes {start}-{len(found) - 1}/{len(found)}")
        self.end_headers()
        self.wfile.write(content[: self.shelf.cut])
        if self.shelf.cut is not None:
            self.close_connection = True

    def do_PUT(self) -> None:
        self._noted()
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.shelf.status is None:
            self.shelf.files[self._path] = content
        self._answer(self.shelf.status or 201)

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _noted(self) -> None:
        self.shelf.requests.append(f"{self.command} {self.path}")

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("ETag", '"1"')
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base's name
        del format, arguments
