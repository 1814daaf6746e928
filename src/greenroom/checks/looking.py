"""List everything that a preflight looked at: while none of it changes, its findings hold."""

from __future__ import annotations

import os

from greenroom.checks import pythons
from greenroom.errors import GreenroomError
from greenroom.locks import reading as locks
from greenroom.uv import binary
from greenroom.uv.settings import transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.checks.facts import Facts, Wanted

__all__ = ["build_variables", "looked"]


def looked(facts: Facts) -> Iterator[str]:
    """Yield every file and folder that decides the findings, absent ones included."""
    yield from facts.declaration.files
    for wanted in facts.wanted:
        yield from _of_environment(facts, wanted)
    yield from facts.sources.looked
    for store in facts.stores:
        yield from (store.path, store.interpreters)
        yield from (store.record(wanted.key) for wanted in facts.wanted if wanted.key)
    yield from pythons.looked(facts)
    yield from _of_uv(facts)
    yield from _of_interpreters(facts)


def build_variables(facts: Facts) -> Iterator[str]:
    """Yield the names of the variables that builds read: they decide keys, and so what is missing."""
    for wanted in facts.wanted:
        yield from (name for name, _ in wanted.spec.options.build_env)


def _of_environment(facts: Facts, wanted: Wanted) -> Iterator[str]:
    try:
        yield from locks.inputs(wanted.spec, facts.declaration.root, facts.environ)
    except GreenroomError:  # said where the source is read
        return
    if wanted.selection is not None:
        yield from wanted.selection.files
        places = (one.directory.path for one in wanted.selection.distributions if one.directory)
        yield from places
    if wanted.supply is not None:
        yield from wanted.supply.files


def _of_uv(facts: Facts) -> Iterator[str]:
    try:
        yield binary.find(facts.environ)
        yield from transport(facts.environ).files
    except GreenroomError:  # said where uv is checked
        return


def _of_interpreters(facts: Facts) -> Iterator[str]:
    """Yield the interpreters that were found, and the folders that new ones come into."""
    if facts.driver is not None:
        yield facts.driver.path
    if not any(wanted.assumed for wanted in facts.wanted):
        yield from (wanted.interpreter.path for wanted in facts.wanted if wanted.interpreter)
        return
    yield from facts.declaration.pythons
    environ = facts.environ
    yield from (place for place in environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place))
    home = environ.get("HOME") or os.path.expanduser("~")
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    yield environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(data, "uv", "python")
    yield os.path.join(environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv"), "versions")
