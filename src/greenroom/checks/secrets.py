"""Check that no file that is committed and copied holds a credential; none is ever repeated."""

from __future__ import annotations

import os
import re

from greenroom.checks.failures import name_of
from greenroom.checks.model import Finding, Severity, from_error
from greenroom.errors import GreenroomError, SecretInSource
from greenroom.locks import credentials
from greenroom.locks import reading as locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts

__all__ = ["check"]

_SECRET_NAME = re.compile(r"PASSWORD|PASSWD|TOKEN|SECRET|CREDENTIAL|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
_LIMIT = 50_000_000
"""Bytes: larger files are no sources of an environment."""


def check(facts: Facts) -> Iterator[Finding]:
    """Yield each file of a source that holds a credential, and variables that look like one."""
    yield from _files(facts)
    yield from _variables(facts)


def _files(facts: Facts) -> Iterator[Finding]:
    users: dict[str, list[str]] = {}
    for wanted in facts.wanted:
        try:
            files = locks.inputs(wanted.spec, facts.declaration.root, facts.environ)
        except GreenroomError as error:
            # A source that has no lock yet was not read so far.
            yield from from_error(name_of(error), error, wanted.names)
            files = ()
        for file in files:
            users.setdefault(file, []).extend(wanted.names)
    # What reading stopped at is said already.
    said = {
        f"{error.file}:{error.line}"
        for wanted in facts.wanted
        for error in wanted.errors
        if isinstance(error, SecretInSource)
    }
    for file, names in users.items():
        line = _line(file)
        if line is not None and f"{file}:{line}" not in said:
            yield from from_error("secrets", SecretInSource(file, line), dict.fromkeys(names))


def _line(file: str) -> int | None:
    try:
        if not os.path.isfile(file) or os.path.getsize(file) > _LIMIT:
            return None
        with open(file, encoding="utf-8", errors="replace") as stream:
            return credentials.find(stream.read())
    except OSError:
        return None


def _variables(facts: Facts) -> Iterator[Finding]:
    """Yield launch variables with a secret's name whose value stands in the declaration."""
    for component in facts.declaration.components:
        for name, value in component.launch.variables:
            if _SECRET_NAME.search(name) and value and not value.startswith("$"):
                yield Finding(
                    check="secrets",
                    severity=Severity.WARNING,
                    what=f"the value of {name} stands in the declaration",
                    where=str(component.origin),
                    todo="leave it to the caller's variables, or use an env-file that is not committed",
                    components=(component.name,),
                )
