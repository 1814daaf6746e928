"""What a server is to get, as plain data: made where the line is composed, used where it runs."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from greenroom.adapters.nemo_gym import host, places, pythons, settings
from greenroom.components import StoreOptions
from greenroom.errors import StorePathRefused
from greenroom.store import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Wanted", "parsed", "wanted"]

_HEAD = "# Written by greenroom's adapter for NeMo Gym, and written again when its configuration changes.\n"
_NAME = re.compile(r"[^\x00-\x1f\x7f/\\.-][^\x00-\x1f\x7f/\\]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A server's environment as it is asked for."""

    directory: str
    """The server's real directory."""
    alias: str
    """Where callers look for the environment."""
    prefix: str
    """What stands in brackets before each line of output."""
    name: str
    python: str
    requirements: tuple[str, ...]
    """Beside the server's own."""
    version: str
    """What stands for NeMo Gym where it is no checkout: specifiers."""
    store: str | None = None
    prerelease: str | None = None
    index_strategy: str | None = None
    verbose: bool = False

    @property
    def file(self) -> str:
        """The declaration's path, beside the alias."""
        return os.path.join(os.path.dirname(self.alias), ".greenroom", "greenroom.toml")

    def line(self) -> str:
        """Return all of it as one line that survives any shell's quoting."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def declaration(self) -> str:
        """Return the declaration that asks greenroom for it."""
        above = os.path.normpath(os.path.join(self.directory, "../.."))
        tables: dict[str, dict[str, object]] = {
            "host": {"name": host.PACKAGE, "path": above, "version": self.version},
            "defaults": {"python-downloads": True},
            f"servers.{_toml(self.name)}": {
                "path": self.directory,
                "python": self.python,
                "extra-requirements": list(self.requirements),
                "prerelease": self.prerelease,
                "index-strategy": self.index_strategy,
            },
        }
        if os.path.isfile(os.path.join(self.directory, "uv.lock")):
            del tables[f"servers.{_toml(self.name)}"]["extra-requirements"]
        if self.store is not None:
            tables["store"] = {"path": self.store}
        text = _HEAD
        for name, values in tables.items():
            lines = (f"{key} = {_toml(value)}\n" for key, value in values.items() if value is not None)
            text += f"\n[{name}]\n{''.join(lines)}"
        return text


def parsed(line: str) -> Wanted:
    """Return what :meth:`Wanted.line` wrote."""
    values = json.loads(line)
    return Wanted(**{**values, "requirements": tuple(values["requirements"])})


def wanted(
    dir_path: str | os.PathLike[str], config: Mapping[str, Any], prefix: str, environ: Mapping[str, str]
) -> Wanted:
    """Return what a configuration asks for one server.

    :param environ: the driver's variables.
    """
    directory = os.path.realpath(dir_path)
    checkout = host.is_checkout(directory)
    driver = settings.text(config, "python_version") or ".".join(map(str, sys.version_info[:3]))
    flags = () if checkout else host.more_requirements(environ)
    return Wanted(
        directory=directory,
        alias=str(places.venv_path(dir_path, config)),
        prefix=prefix,
        name=_name(dir_path),
        python=pythons.server_request(directory, driver),
        # The project's own environments are seeded with pip.
        requirements=tuple(dict.fromkeys((*settings.lines(config, "head_server_deps"), *flags, "pip"))),
        version=host.version_spec(checkout) or ">=0",
        store=_store(os.path.abspath(dir_path), config),
        prerelease=host.prerelease(environ, checkout=checkout),
        index_strategy=host.index_strategy(environ, checkout=checkout),
        verbose=settings.flag(config, "pip_install_verbose"),
    )


def _name(dir_path: str | os.PathLike[str]) -> str:
    """Return a server's name for messages: the last two parts of its path, as far as a name may hold them."""
    parts = [part for part in os.path.abspath(dir_path).split(os.sep)[-2:] if part]
    return "/".join(parts) if parts and all(map(_NAME.fullmatch, parts)) else "server"


def _store(directory: str, config: Mapping[str, Any]) -> str | None:
    """Return the store for a ``uv_venv_dir`` of its own: what is prebuilt there is to be complete.

    Where environments stand beside their servers, and where a path cannot hold a store (one with a
    space), it is the user's own.
    """
    root = settings.text(config, "uv_venv_dir")
    if root is None or os.path.dirname(places.venv_path(directory, config)) == directory:
        return None
    place = os.path.join(os.path.abspath(root), ".greenroom")
    try:
        layout.stores(StoreOptions(paths=(place,)), {})
    except StorePathRefused:
        return None
    return place


def _toml(value: object) -> str:
    """Return a TOML value: JSON's texts, lists and switches are ones, once DEL is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
