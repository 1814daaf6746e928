"""uv's configuration and environment, made anew: the caller's surroundings decide nothing.

Of the user's and the machine's ``uv.toml`` only transport settings are taken: what decides how
packages travel, not which ones. The rest is named, so that a caller can say so once.
https://docs.astral.sh/uv/reference/settings/, https://docs.astral.sh/uv/reference/environment/
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from greenroom.errors import SettingsUnreadable
from greenroom.uv import toml
from greenroom.uv.building import keys
from greenroom.uv.passing import is_passed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.components import Index
    from greenroom.locks.model import BuildSettings

__all__ = ["Ignored", "Transport", "config_text", "offline", "transport", "variables"]

_TRANSPORT = frozenset(
    {
        # where packages come from
        *("index", "index-url", "extra-index-url", "no-index", "find-links"),
        # how they are reached
        *("system-certs", "native-tls", "allow-insecure-host", "keyring-provider"),
        *("http-proxy", "https-proxy", "no-proxy", "offline"),
        # where they are kept, how many at once
        *("cache-dir", "concurrent-downloads", "concurrent-builds", "concurrent-installs"),
        # where interpreters come from
        *(
            "python-install-mirror",
            "pypy-install-mirror",
            "graalpy-install-mirror",
            "python-downloads-json-url",
        ),
    }
)
_PIP_TRANSPORT = frozenset({"index-url", "extra-index-url", "no-index", "find-links", "keyring-provider"})
"""Of the ``[pip]`` table, which uv merges over the keys of the same names."""
_SILENT = frozenset(
    {
        # uv's other commands: publishing, editing a project, a report
        *("publish-url", "trusted-publishing", "check-url", "add-bounds", "audit"),
        # said on every command line
        *("preview", "preview-features", "python-downloads"),
    }
)
"""Keys that cannot mean anything here, and are not worth a word."""

_TRUE = frozenset({"1", "true", "yes", "on", "t", "y"})
"""What uv takes for yes in a variable."""
_SAID = {
    # A build of hours holds uv's lock; a caller's tiny limit would fail those who wait. Seconds.
    "UV_LOCK_TIMEOUT": "86400",
    "UV_NO_PROGRESS": "1",
    "UV_NO_CONFIG": "1",
    "UV_NO_ENV_FILE": "1",
    "UV_PYTHON_DOWNLOADS": "never",
    "NO_COLOR": "1",
    # Nobody can answer: a process in the background that asks on the terminal would stop for ever.
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "force",
    "PYTHONNOUSERSITE": "1",
}


_PLACES = (
    *("UV_CACHE_DIR", "UV_CREDENTIALS_DIR", "UV_PYTHON_INSTALL_DIR", "UV_PYTHON_CACHE_DIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC", "TMPDIR"),
)
"""Variables whose value is one path."""
_LOCATIONS = frozenset({"cache-dir", "find-links", "index-url", "extra-index-url", "url"})
"""Keys whose values are paths, or URLs that may be paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A setting of a user-wide or machine-wide file that greenroom does not take."""

    file: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """The transport settings of the user's and the machine's ``uv.toml``, merged as uv does."""

    values: tuple[tuple[str, str], ...] = ()
    """Key -> value as TOML, sorted; indexes are not among them."""
    indexes: tuple[tuple[tuple[str, str], ...], ...] = ()
    """``[[index]]`` tables, first wins: key -> value as TOML."""
    ignored: tuple[Ignored, ...] = ()
    files: tuple[str, ...] = ()
    """Every file that was read or is absent: their stat decides."""


def transport(environ: Mapping[str, str]) -> Transport:
    """Read the transport settings that the user and the machine's operator wrote for uv.

    The user's file comes before the machine's: its values win, its lists come first, as in uv.
    ``UV_CONFIG_FILE`` replaces both, ``UV_NO_CONFIG`` leaves nothing. Variables are not read here:
    :func:`variables` passes them on, and uv lets them win.

    :raises SettingsUnreadable: a file is no TOML or cannot be read.
    """
    values: dict[str, object] = {}
    indexes: list[dict[str, object]] = []
    ignored: list[Ignored] = []
    files = tuple(_files(environ))
    for file in files:
        table = _read(file)
        pip = table.pop("pip", {})
        taken = {name: value for name, value in table.items() if name in _TRANSPORT}
        if isinstance(pip, dict):
            taken |= {name: value for name, value in pip.items() if name in _PIP_TRANSPORT}
            ignored += (Ignored(file=file, key=f"pip.{name}") for name in pip if name not in _PIP_TRANSPORT)
        ignored += (Ignored(file=file, key=name) for name in table if name not in _TRANSPORT | _SILENT)
        found = taken.pop("index", [])
        for entry in found if isinstance(found, list) else ():
            indexes += [_placed(entry, file)] if isinstance(entry, dict) else []
        for name, value in _placed(taken, file).items():
            values[name] = _merged(values.get(name), value)
    return Transport(
        values=tuple(sorted((name, toml.inline(value)) for name, value in values.items())),
        indexes=tuple(
            tuple((name, toml.inline(value)) for name, value in entry.items()) for entry in _unique(indexes)
        ),
        ignored=tuple(ignored),
        files=files,
    )


def _placed(table: dict[str, object], file: str) -> dict[str, object]:
    """Make relative paths absolute: they are relative to the file that names them."""

    def place(value: object) -> object:
        if isinstance(value, list):
            return [place(entry) for entry in value]
        if isinstance(value, str) and "://" not in value:
            return os.path.join(os.path.dirname(file), os.path.expanduser(value))
        return value

    return {name: place(value) if name in _LOCATIONS else value for name, value in table.items()}


def offline(environ: Mapping[str, str], transport: Transport) -> bool:
    """Tell whether the user or the operator forbids the network, as uv understands it."""
    named = environ.get("UV_OFFLINE", "").lower()
    return named in _TRUE or (not named and dict(transport.values).get("offline") == "true")


def _merged(first: object, second: object) -> object:
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    return second if first is None else first


def _unique(indexes: Iterable[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Drop later indexes of a name that is taken, and a second default."""
    names: set[object] = set()
    for entry in indexes:
        marks = {
            entry.get("name") or entry.get("url"),
            *({"default"} if entry.get("default") in {True, "true"} else ()),
        }
        if not marks & names:
            yield entry
        names |= marks


def _files(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the places of uv.toml, the user's first.

    https://docs.astral.sh/uv/concepts/configuration-files/
    """
    if environ.get("UV_NO_CONFIG", "").lower() in _TRUE:
        return
    named = environ.get("UV_CONFIG_FILE")
    if named:
        yield os.path.abspath(named)
        return
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".config"
    )
    yield os.path.join(home, "uv", "uv.toml")
    for directory in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
        machine = os.path.join(directory, "uv", "uv.toml")
        if directory and os.path.isfile(machine):
            yield machine
            return
    yield "/etc/uv/uv.toml"


def _read(file: str) -> dict[str, object]:
    import tomllib  # noqa: PLC0415 - only when something is built

    try:
        with open(file, "rb") as stream:
            return tomllib.load(stream)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise SettingsUnreadable(file, str(error)) from error


def config_text(
    transport: Transport,
    indexes: Iterable[Index] = (),
    settings: BuildSettings | None = None,
    **more: object,
) -> str:
    """Return the ``uv.toml`` that a call of uv gets, and that replaces every other.

    It may hold credentials of the user's index URLs: write it with mode 0600 in a private folder.

    :param indexes: the declaration's own; they come before the user's, and win names and the default.
    :param settings: what decides what a build gives.
    :param more: further keys, ``_`` for ``-`` (``cache_dir="/x"``); they win over ``transport``.
    """
    own = [_index(index) for index in indexes]
    theirs: list[dict[str, object]] = [dict(entry) for entry in transport.indexes]
    values = dict(transport.values)
    said = {name.replace("_", "-"): value for name, value in more.items() if value is not None}
    values |= {name: toml.inline(value) for name, value in said.items()}
    if settings is not None:
        values |= {name: toml.inline(value) for name, value in keys(settings)}
    lines = [f"{name} = {value}" for name, value in sorted(values.items())]
    for entry in _unique([*own, *theirs]):
        lines += ["", "[[index]]", *(f"{name} = {value}" for name, value in entry.items())]
    return "\n".join(lines) + "\n"


def _index(index: Index) -> dict[str, object]:
    flags = {"explicit": index.explicit, "default": index.default}
    entry: dict[str, object] = {"name": toml.inline(index.name), "url": toml.inline(index.url)}
    return entry | {name: "true" for name, value in flags.items() if value}


def variables(environ: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the whole environment of a uv call: the listed variables, and nothing else.

    :param environ: the caller's.
    :param extra: what is added, and wins: declared build variables.
    """
    passed = {name: value for name, value in environ.items() if is_passed(name)}
    # uv runs elsewhere: what is relative to the caller's directory is made absolute, or left out.
    passed |= {name: os.path.abspath(passed[name]) for name in _PLACES if passed.get(name)}
    programs = passed.get("PATH", os.defpath).split(os.pathsep)
    passed["PATH"] = os.pathsep.join(filter(os.path.isabs, programs))
    passed.setdefault("SSH_ASKPASS", "false")
    return passed | _SAID | dict(extra or {})
