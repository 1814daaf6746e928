"""Small servers for the tests of supervision, and declarations that run them without an environment."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.workspace import Command

__all__ = ["HTTP", "Serving", "fetch"]

HTTP = """\
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        told = {"pid": os.getpid(), "cwd": os.getcwd(), "prefix": sys.prefix, "argv": sys.argv[1:]}
        self.wfile.write(json.dumps({**told, "env": dict(os.environ)}).encode())
    def log_message(self, *_):
        pass
print("serving", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
"""Listens on the port of its first argument and tells how it was started."""


def fetch(url: str) -> Any:
    """Return what a server tells."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.loads(answer.read())


class Serving:
    """A project of servers on the driver's interpreter: nothing is built."""

    def __init__(self, greenroom: Command, directory: Path) -> None:
        self.greenroom = greenroom
        self.directory = directory

    def write(self, servers: Mapping[str, str], **files: str) -> None:
        """Write a declaration, name -> the rest of the server's table, and scripts by their stem.

        Each server's directory is ``srv/<name>`` unless its table says another.
        """
        parts = []
        for name, rest in servers.items():
            place = "" if "path =" in rest else f'path = "srv/{name}"\n'
            directory = self.directory / "srv" / name
            directory.mkdir(parents=True, exist_ok=True)
            for stem, text in {"web": HTTP, **files}.items():
                (directory / f"{stem}.py").write_text(text)
            parts.append(f'[servers."{name}"]\nenvironment = false\n{place}{rest}\n')
        (self.directory / "greenroom.toml").write_text("\n".join(parts))

    def up(self, *words: str, status: int = 0) -> list[dict[str, Any]]:
        """Run ``greenroom up --detach`` and return the units."""
        outcome = self.greenroom("up", "--detach", "--json", *words, status=status)
        units: list[dict[str, Any]] = json.loads(outcome.lines[-1])["data"]["units"]
        return units

    def ps(self) -> dict[str, dict[str, Any]]:
        """Return the units by name."""
        units = self.greenroom("ps", "--json", status=None).json()["data"]["units"]
        return {unit["name"]: unit for unit in units}

    def supervisor(self) -> int:
        """Return the supervisor's process."""
        return int(self.greenroom("ps", "--json", status=None).json()["data"]["supervisor"])

    def url(self, name: str) -> str:
        """Return a server's URL."""
        return self.greenroom("url", name).stdout.strip()

    def down(self) -> None:
        """End everything."""
        self.greenroom("down", status=None)
