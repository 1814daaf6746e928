"""What the commands of servers have in common: which servers are meant, where their supervisor is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.declaration import reading
from greenroom.project import answering
from greenroom.servers import places
from greenroom.uv.secrets import mask, secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from greenroom.cli.result import Call
    from greenroom.servers.client import Client
    from greenroom.servers.places import Places

__all__ = ["connected", "declaration", "hider", "place", "units_of"]


def declaration(call: Call) -> str:
    """Return the declaration's path.

    :raises DeclarationNotFound: there is none.
    """
    return reading.find_declaration(call.start, call.environ)


def place(call: Call) -> Places:
    """Return where the supervisor of the declaration keeps its files."""
    return places.places(declaration(call), call.environ)


def connected(call: Call) -> Client:
    """Return a connection to the supervisor.

    :raises NotRunning: there is none.
    """
    from greenroom.errors import NotRunning
    from greenroom.servers import client

    found = client.connect(place(call))
    if found is None:
        raise NotRunning(declaration(call))
    return found


def units_of(state: dict[str, Any], names: Iterable[str], file: str) -> list[dict[str, Any]]:
    """Return the units of some servers; all when there are no names.

    :raises NotRunning: one is not run.
    """
    from greenroom.errors import NotRunning

    wanted = list(names)
    found: list[dict[str, Any]] = state["units"]
    for name in wanted:
        if not any(name in {unit["name"], unit["server"]} for unit in found):
            raise NotRunning(file, name)
    return [unit for unit in found if not wanted or {unit["name"], unit["server"]} & set(wanted)]


def hider(call: Call) -> Callable[[str], str]:
    """Return what hides secrets in servers' output: credentials, and what env-files and variables hold.

    Of declared variables those with a secret's name are hidden, of env-files every value that is long
    enough to be one.
    """
    from greenroom.errors import GreenroomError
    from greenroom.project import envfile

    secrets = set(secrets_of(call.environ))
    try:
        answers = answering.known(call.start, call.environ).answers
    except GreenroomError:  # the logs can be read without a declaration that is in order
        answers = []
    for answer in answers:
        secrets.update(secrets_of(dict(answer.launch["variables"])))
        if answer.launch["env_file"] is not None:
            try:
                pairs = envfile.read(answer.launch["env_file"])
            except GreenroomError:
                continue
            secrets.update(value for _, value in pairs if len(value) >= 6)
    known = tuple(secrets)
    return lambda text: mask(text, known)
