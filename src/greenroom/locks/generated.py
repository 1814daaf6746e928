"""Know the locks that greenroom writes: where they are, what they were made from, whether that changed.

A source without a lock of its own — requirements files, lines of the declaration, a script — is
locked in ``greenroom.lock/pylock.<name>.toml`` beside the declaration. ``[tool.greenroom]`` in it
says what decided it: a digest of each input in a normal form, in which comments and white space do
not count, and neither does a credential.
"""

from __future__ import annotations

import os
from hashlib import sha256
from json import dumps

from greenroom.components import InlineSource, RequirementsSource, ScriptSource
from greenroom.locks import credentials, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.locks.origins import Inputs
    from greenroom.locks.uvlock import Table

__all__ = ["asked_anew", "inputs", "path", "staleness", "stamp"]

FOLDER = "greenroom.lock"
LOCKED_HERE = (RequirementsSource, InlineSource, ScriptSource)
"""The kinds of source that have their lock in :data:`FOLDER`."""
_SCHEMA = 1


def path(root: str, lock_name: str) -> str:
    """Return the path of a source's lock.

    :param root: the declaration's directory.
    """
    return os.path.join(root, FOLDER, f"pylock.{lock_name}.toml")


def inputs(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files whose stat decides the lock and its staleness, absent ones included."""
    return (path(root, spec.lock_name), *_inputs(spec, root, environ).watched)


def stamp(text: str, spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> str:
    """Return the text of a lock with what it was made from, without credentials and without uv's header.

    :param text: what ``uv pip compile --format pylock.toml`` wrote for the lock's own place.
    :raises RequirementsUnreadable, SecretInSource, LockUnreadable: an input is at fault.
    """
    own = text.split("\n[tool.greenroom]\n", 1)[0]  # what an earlier stamp said is said anew
    body = "\n".join(line for line in own.splitlines() if not line.startswith("#"))
    found = _inputs(spec, root, environ)
    lines = [
        "# Written by `greenroom lock`; change its sources instead.",
        credentials.strip_all(body.strip("\n")),
        "",
        "[tool.greenroom]",
        f"schema = {_SCHEMA}",
        f"python = {_toml(_request(spec))}",
        "",
        "[tool.greenroom.inputs]",
        *(f"{_toml(name)} = {_toml(_digest(content))}" for name, content in found.contents),
        "",
        "[tool.greenroom.variables]",
        *(f"{name} = {_toml(_digest(environ.get(name, '')))}" for name in found.variables),
        "",
        "[tool.greenroom.packages]",
        *(f"{_toml(name)} = {_toml(_digest(lines)[:16])}" for name, lines in found.packages),
    ]
    return "\n".join(lines) + "\n"


def asked_anew(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages whose own lines changed since the lock was made: what it pins of them is over.

    Everything else stays at its version until an upgrade is asked for.

    :raises RequirementsUnreadable, SecretInSource, LockUnreadable: an input is at fault.
    """
    said = settings.section(settings.table(path(root, spec.lock_name)), "tool", "greenroom")
    if "packages" not in said:  # by a greenroom that did not say
        return ()
    then = settings.section(said, "packages")
    now = {name: _digest(lines)[:16] for name, lines in _inputs(spec, root, environ).packages}
    return tuple(sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name)))


def _inputs(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> Inputs:
    from greenroom.locks import origins  # noqa: PLC0415 - heavy: only where there is such a source

    return origins.of(spec, root, environ)


def staleness(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> str | None:
    """Return in words why a lock is out of date, or None.

    :raises RequirementsUnreadable, SecretInSource, LockUnreadable: an input is at fault.
    """
    file = path(root, spec.lock_name)
    table = settings.table(file)
    if table is None:
        return "it was never written"
    said = settings.section(table, "tool", "greenroom")
    if said.get("schema") != _SCHEMA:
        return "it was not written by `greenroom lock`" if not said else "it was written by another greenroom"
    return _changed(said, _inputs(spec, root, environ), environ) or _python(said, _request(spec))


def _request(spec: EnvironmentSpec) -> str:
    """Return the declared Python request; a path is a matter of the machine, not of the lock."""
    request = spec.options.python or ""
    return "" if os.path.isabs(request) else request


def _python(said: Table, now: str) -> str | None:
    then = str(said.get("python", ""))
    return (
        f"the Python request was {then or 'the driver'} and is {now or 'the driver'}" if then != now else None
    )


def _changed(said: Table, found: Inputs, environ: Mapping[str, str]) -> str | None:
    then = settings.section(said, "inputs")
    now = {name: _digest(content) for name, content in found.contents}
    for name in then.keys() | now.keys():
        if name in found.absent and name not in now:
            continue
        if name not in then:
            return f"{name} is new"
        if name not in now:
            return f"{name} is no longer read"
        if then[name] != now[name]:
            return f"{name} changed"
    variables = settings.section(said, "variables")
    for name in variables.keys() | set(found.variables):
        if variables.get(name) != _digest(environ.get(name, "")):
            return f"the variable {name} changed"
    return None


def _digest(content: str) -> str:
    return sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _toml(text: str) -> str:
    """Return a TOML basic string: JSON's strings are ones, once DEL is escaped."""
    return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
