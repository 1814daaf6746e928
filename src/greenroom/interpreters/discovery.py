"""Find interpreters: the driver's, a declared one, a remembered one, then one that uv knows.

An interpreter is asked what it is, never believed by its name; each is known by the resolved path of
its base, so that the same one reached by a symlink, a shim or an environment is the same.
"""

from __future__ import annotations

import os
import sys

from greenroom.errors import PythonBroken, PythonNotFound, PythonTooOld
from greenroom.interpreters import memory
from greenroom.interpreters.requests import admits, fits, is_path, names_cpython, request_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.components import Origin
    from greenroom.interpreters.model import Interpreter

__all__ = ["base_state", "driver", "find", "inspect"]


def inspect(path: str, environ: Mapping[str, str] | None = None) -> Interpreter:
    """Return what the interpreter at ``path`` is; it is run unless its answer is remembered.

    :param path: a binary, a symlink or shim of one, an environment's interpreter, or the directory
        of an environment or installation.
    :param environ: the caller's variables; None: this process's.
    :returns: the base interpreter.
    :raises PythonBroken: there is none, or it does not say what it is.
    :raises PythonTooOld: no environment can be built for it.
    """
    variables = os.environ if environ is None else environ
    place = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(place):
        place = os.path.join(place, "bin", "python")
    binary = os.path.realpath(place)
    # An environment's link leads to its base's binary: then that one is asked, and remembered.
    return _known(binary, variables) or _asked(place, binary, variables)


def _known(binary: str, environ: Mapping[str, str]) -> Interpreter | None:
    try:
        found = os.stat(binary)
    except OSError:
        return None
    return memory.recall(binary, (found.st_ino, found.st_size, found.st_mtime_ns), environ)


def _asked(place: str, binary: str, environ: Mapping[str, str]) -> Interpreter:
    from greenroom.interpreters.asking import ask  # noqa: PLC0415 - not when remembered
    from greenroom.interpreters.shims import behind  # noqa: PLC0415 - the same

    try:
        found, base = ask(place, environ)
    except PythonBroken:
        real = behind(place)
        if real is None:
            raise
        return inspect(real, environ)
    if base != binary:
        # A shim, or an environment with a copied binary: the base speaks for itself.
        return _known(base, environ) or _asked_base(base, environ)
    memory.remember(found, environ)
    return found


def _asked_base(base: str, environ: Mapping[str, str]) -> Interpreter:
    from greenroom.interpreters.asking import ask  # noqa: PLC0415 - not when remembered

    found, named = ask(base, environ)
    if named != base:
        raise PythonBroken(base, f"it names {named} as its base")
    memory.remember(found, environ)
    return found


def driver(declared: str | None = None, environ: Mapping[str, str] | None = None) -> Interpreter:
    """Return the driver's interpreter: ``GREENROOM_DRIVER``, the declared one, else greenroom's own.

    :raises PythonBroken: what is named is no interpreter.
    """
    variables = os.environ if environ is None else environ
    named = variables.get("GREENROOM_DRIVER")
    try:
        return inspect(named or declared or sys.executable, variables)
    except (PythonBroken, PythonTooOld) as error:
        error.where = "GREENROOM_DRIVER" if named else None
        raise


def find(  # noqa: PLR0913 - the places to look, each by name
    request: str | None,
    *,
    driver: Interpreter,
    declared: Sequence[str] = (),
    remembered: Mapping[str, str] | None = None,
    downloads: bool = False,
    ask_uv: bool = True,
    origin: Origin | None = None,
    environ: Mapping[str, str] | None = None,
) -> Interpreter:
    """Return the interpreter for a request: the driver's whenever it is admitted.

    :param request: None: the driver's; an absolute path: that one; else a version or specifiers.
    :param declared: paths to look at before uv is asked; those that do not work are passed over.
    :param remembered: request -> path of earlier choices.
    :param downloads: whether uv may fetch one.
    :param ask_uv: False: no process of uv is started.
    :param origin: where the request stands, for the error.
    :raises PythonNotFound: nothing satisfies the request, or nothing is at the path that it names.
    :raises PythonBroken: what is at the path that the request names is no interpreter.
    """
    variables = os.environ if environ is None else environ
    wanted = None if request is None else request_of(request)
    if wanted is None or _is_drivers(wanted, driver):
        return driver
    if is_path(wanted):
        return _at(wanted, origin, variables)
    looked = [f"{driver.path} ({driver.version})"]
    places = [*((path, False) for path in declared), ((remembered or {}).get(wanted), True)]
    for path, chosen in places:
        found = _one_of(path, wanted, chosen=chosen, looked=looked, environ=variables)
        if found is not None:
            return found
    if ask_uv:
        from greenroom.interpreters.asking_uv import search  # noqa: PLC0415 - it starts processes

        path, reason = search(wanted, environ=variables, downloads=downloads)
        looked += () if path else (f"uv ({reason})",)
        found = _one_of(path, wanted, chosen=True, looked=looked, environ=variables)
        if found is not None:
            return found
    raise PythonNotFound(
        wanted,
        origin=None if origin is None else str(origin),
        looked=looked,
        todo=None if ask_uv else "run greenroom sync: it asks uv for one",
    )


def _is_drivers(request: str, driver: Interpreter) -> bool:
    if names_cpython(request) and driver.implementation != "cpython":
        return False
    return admits(request, driver.version)


def _one_of(
    path: str | None, request: str, *, chosen: bool, looked: list[str], environ: Mapping[str, str]
) -> Interpreter | None:
    """Return the interpreter at ``path`` when it works and is what the request asks for.

    :param chosen: uv named it for this very request: believed where only uv knows what that means.
    :param looked: gets a word for what was passed over.
    """
    if path is None:
        return None
    try:
        found = inspect(path, environ)
    except PythonTooOld as error:
        looked.append(f"{path} ({error.version}, too old)")
        return None
    except PythonBroken as error:
        looked.append(f"{path} ({error.reason})")
        return None
    fitting = fits(request, implementation=found.implementation, version=found.version, abi=found.abi)
    if fitting or (fitting is None and chosen):
        return found
    looked.append(f"{found.path} ({found.version})")
    return None


def _at(request: str, origin: Origin | None, environ: Mapping[str, str]) -> Interpreter:
    path = os.path.expanduser(request)
    where = None if origin is None else str(origin)
    if not os.path.isabs(path):
        raise PythonNotFound(request, origin=where, looked=(), todo="write an absolute path")
    try:
        return inspect(path, environ)
    except (PythonBroken, PythonTooOld) as error:
        if not os.path.exists(path):
            todo = "put it back, or name another interpreter"
            raise PythonNotFound(request, origin=where, looked=(), todo=todo) from error
        error.where = where
        raise


def base_state(base: tuple[str, int, int, int]) -> str:
    """Tell what became of the base interpreter that a record names, by one stat.

    Size and whole seconds of the modification decide. The inode and the fraction do not: a copy of
    an image, or another node with the same files, has others.

    :param base: path, inode, size and mtime (ns), as recorded.
    :returns: ``same``, ``vanished`` or ``replaced``.
    """
    path, _, size, mtime = base
    try:
        found = os.stat(path)
    except OSError:
        return "vanished"
    second = 1_000_000_000
    same = (found.st_size, found.st_mtime_ns // second) == (size, mtime // second)
    return "same" if same else "replaced"
