"""From what is known of a declaration's components to the servers that a supervisor is to run."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from greenroom.errors import CommandUnknown, NeedsCircle, Problems, UnknownServer
from greenroom.project import allowed, services
from greenroom.servers import placeholders
from greenroom.servers.fleet import circle
from greenroom.servers.spec import Spec, digest, needed_ports, unit_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from greenroom.errors import GreenroomError
    from greenroom.snapshot import Answer

__all__ = ["check", "choose", "make", "one"]

_SCRIPTS = ("app.py", "main.py")


def choose(
    answers: Iterable[Answer], names: Iterable[str], tags: Iterable[str], declaration: str
) -> tuple[Answer, ...]:
    """Return the servers of some names or tags with all that they need, in the declaration's order.

    :param names: of servers; with no name and no tag all are meant.
    :raises UnknownServer: a name or tag is none's.
    :raises NeedsCircle: some wait for each other.
    """
    known = {answer.name: answer for answer in answers if answer.kind == "server"}
    service = {name: services.service(answer.launch["service"]) for name, answer in known.items()}
    wanted = list(names)
    for name in wanted:
        if name not in known:
            raise UnknownServer(name, known=known, declaration=declaration)
    everything = not wanted
    for tag in tags:
        everything = False
        tagged = [name for name, found in service.items() if tag in found.tags]
        if not tagged:
            every = {each for found in service.values() for each in found.tags}
            raise UnknownServer(tag, known=every, declaration=declaration)
        wanted += tagged
    needs = {name: [needed for needed, _ in found.needs] for name, found in service.items()}
    found: set[str] = set()
    left = list(known) if everything else wanted
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += needs[name]
    loop = circle({name: needs[name] for name in known if name in found})
    if loop:
        raise NeedsCircle(loop)
    return tuple(answer for name, answer in known.items() if name in found)


def check(answers: Iterable[Answer], environ: Mapping[str, str]) -> None:
    """Refuse servers outside the allowed roots, before anything is built.

    :raises Problems: all of them at once.
    """
    roots = allowed.roots(environ)
    found = [allowed.problem(answer.name, answer.launch["directory"], roots) for answer in answers]
    errors = [error for error in found if error is not None]
    if errors:
        raise Problems(errors)


def make(answers: Iterable[Answer], environ: Mapping[str, str], declaration: str) -> list[Spec]:
    """Return what the supervisor is told of some servers.

    :raises Problems: commands are missing, directories lie outside the allowed roots, or names that
        placeholders use are no server's: all at once.
    """
    found = list(answers)
    roots = allowed.roots(environ)
    errors: list[GreenroomError] = []
    specs = []
    for answer in found:
        spec = _spec(answer, roots)
        if not spec.command:
            errors.append(CommandUnknown(answer.name, declaration))
        problem = allowed.problem(answer.name, spec.directory, roots)
        if problem is not None:
            errors.append(problem)
        specs.append(spec)
    names = {unit for spec in specs for unit in (spec.name, *unit_names(spec.name, spec.service.replicas))}
    for spec in specs:
        for name in placeholders.references(spec.texts()):
            if name not in names:
                where = f"{declaration} [servers.{spec.name}]"
                errors.append(UnknownServer(name, known=names, declaration=where))
    if errors:
        raise Problems(errors)
    named = needed_ports(specs)
    ported = [replace(spec, uses_port=_uses_port(spec, named)) for spec in specs]
    return [replace(spec, digest=digest(spec)) for spec in ported]


def one(answer: Answer, environ: Mapping[str, str]) -> Spec:
    """Return what a supervisor would be told of one server, whatever others its placeholders name.

    :raises OutsideRoots: its directory is not allowed.
    """
    roots = allowed.roots(environ)
    found = allowed.problem(answer.name, answer.launch["directory"], roots)
    if found is not None:
        raise found
    return _spec(answer, roots)


def _spec(answer: Answer, roots: tuple[str, ...]) -> Spec:
    directory = answer.launch["directory"]
    return Spec(
        name=answer.name,
        interpreter=answer.interpreter or "",
        environment=answer.environment,
        key=answer.key,
        directory=directory,
        command=tuple(answer.launch["command"]) or _command(directory),
        launch=answer.launch,
        uses_port=False,
        roots=roots,
    )


def _uses_port(spec: Spec, named: set[str]) -> bool:
    service = spec.service
    if service.port is not None or service.socket == "pass":
        return True
    units = {spec.name, *unit_names(spec.name, service.replicas)}
    return bool(placeholders.own(spec.texts()) & {"port", "url", "fd"} or named & units)


def _command(directory: str) -> tuple[str, ...]:
    script = next((name for name in _SCRIPTS if os.path.isfile(os.path.join(directory, name))), None)
    return () if script is None else ("python", script)
