"""Write an alias: a small real directory by a component's name that starts the store's interpreter.

For people and tools that expect an environment at a place of their own. It is never a symbolic link
into the store: tools follow one, and install into or empty the environment behind it. Without a
``pyvenv.cfg`` no tool takes it for an environment that it may change, and its ``bin/python`` execs the
store's, so that a process keeps its environment when the alias moves on.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from hashlib import sha256
from secrets import token_hex
from shlex import quote

from greenroom.errors import AliasRefused, StoreFailed
from greenroom.store import moving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.components import Pairs

    Names = tuple[str, ...]

__all__ = ["escaped", "remove", "target", "write", "write_at"]

_MARK = "greenroom-alias"
"""The file that makes a directory an alias; its text is the environment's path."""
_LEFT = ("PYTHONHOME", "PYTHONPATH")
"""What the caller's own environment may have left, and would let other code run."""
_LONGEST = 200
"""Bytes: file systems allow 255, and temporary names need some."""
_PYTHON = re.compile(r"(python|pypy|graalpy)[\d.]*t?")
_PIP = re.compile(r"pip[\d.]*")
_PLAIN = re.compile(r"[a-z0-9._-]")


def escaped(name: str) -> str:
    """Return a file name for a component's name: two names never give one, whatever the case counts.

    Lower-case letters, digits, ``.``, ``_`` and ``-`` stand for themselves, an upper-case letter is ``+`` and
    the lower-case one, everything else ``=`` with its bytes in hexadecimal and another ``=``. What is too
    long for a file name ends in ``~`` and a digest.
    """
    text = "".join(_escaped(character) for character in name)
    if text.startswith(".") or not text:  # neither hidden nor «.» nor «..»
        text = f"={text[:1].encode().hex()}={text[1:]}"
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 33]}~{sha256(text.encode()).hexdigest()[:32]}"
    return text


def write(directory: str, name: str, environment: str, variables: Iterable[tuple[str, str]] = ()) -> str:
    """Write or move the alias of a component.

    :param directory: where aliases stand; made when it is missing.
    :param name: the component's name.
    :param environment: the environment's directory in the store.
    :param variables: what ``bin/activate`` and the programs set beside VIRTUAL_ENV and PATH.
    :returns: the alias's path.
    :raises AliasRefused: something else stands there.
    :raises StoreFailed: the operating system refuses.
    """
    return write_at(f"{directory}/{escaped(name)}", environment, variables)


def write_at(
    path: str,
    environment: str,
    variables: Iterable[tuple[str, str]] = (),
    *,
    keep_pythonpath: bool = False,
) -> str:
    """Write or move an alias at a path of the caller's choice (``servers/math/.venv``).

    :param keep_pythonpath: whether a PYTHONPATH of the caller's reaches the environment's programs: it is
        left out otherwise, and some starters hand over a server's own directory in it.
    :raises AliasRefused: something else stands there; it is left as it is.
    :raises StoreFailed: the operating system refuses.
    """
    given = tuple(variables)
    _check(path, given)
    temporary = f"{path}.{token_hex(6)}"
    try:
        os.makedirs(f"{temporary}/bin")
        _fill(temporary, environment, given, _LEFT[:1] if keep_pythonpath else _LEFT)
        _put(temporary, path)
    except OSError as error:
        raise StoreFailed.of("write the alias", path, error) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(temporary)
    return path


def target(path: str) -> str | None:
    """Return the environment that an alias starts, None when there is no alias."""
    if os.path.islink(path):
        return None
    try:
        with open(f"{path}/{_MARK}", encoding="utf-8", errors="surrogateescape") as file:
            return file.read().removesuffix("\n")
    except OSError:
        return None


def remove(path: str) -> bool:
    """Remove an alias; anything else is left as it is.

    :returns: whether one was there.
    :raises StoreFailed: the operating system refuses.
    """
    if target(path) is None:
        return False
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise StoreFailed.of("remove the alias", path, error) from error
    return True


def _escaped(character: str) -> str:
    if _PLAIN.fullmatch(character):
        return character
    if "A" <= character <= "Z":
        return f"+{character.lower()}"
    return f"={character.encode('utf-8', 'surrogateescape').hex()}="


def _check(path: str, variables: Pairs) -> None:
    for name, _ in variables:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise AliasRefused(path, f"{name!r} is no name of a variable that a shell can set")
    if os.path.islink(path):
        raise AliasRefused(path, "a symbolic link stands there")
    if not os.path.lexists(path) or target(path) is not None:
        return
    what = "an environment" if os.path.lexists(f"{path}/pyvenv.cfg") else "something"
    raise AliasRefused(path, f"{what} that greenroom did not make stands there")


def _fill(path: str, environment: str, variables: Pairs, unset: Names) -> None:
    bin_ = f"{environment}/bin"
    for name in sorted(os.listdir(bin_)):
        place = f"{bin_}/{name}"
        if not name.startswith(".") and os.path.isfile(place) and os.access(place, os.X_OK):
            _program(f"{path}/bin/{name}", environment, place, variables, unset)
    _text(f"{path}/bin/activate", _activation(environment, variables, unset), 0o644)
    _text(f"{path}/{_MARK}", f"{environment}\n", 0o644)
    _text(f"{path}/.gitignore", "*\n", 0o644)
    _text(f"{path}/README", _README.format(environment=environment), 0o644)


_README = """\
This directory stands for an environment in greenroom's store, {environment}

Its programs start that environment's. It is no environment itself and nothing can be installed into
it: change the declaration and run `greenroom sync`. Removing it removes nothing of the store.
"""


def _program(path: str, environment: str, program: str, variables: Pairs, unset: Names) -> None:
    lines = [
        "#!/bin/sh",
        *_guard(environment, os.path.basename(program)),
        *_exports(environment, variables, unset),
        f'exec {quote(program)} "$@"',
        "",
    ]
    _text(path, "\n".join(lines), 0o755)


def _guard(environment: str, program: str) -> list[str]:
    """Return a line that turns installers away: they would go where the interpreter says it is.

    Read-only folders do not stop root. uv asks an interpreter by a module of that name before it
    installs, pip marks the interpreter that it runs itself in, and may be in the environment.
    """
    if _PYTHON.fullmatch(program):
        refused = "1:*|*get_interpreter_info*|*:-m\\ pip\\ *install*"
    elif _PIP.fullmatch(program):
        refused = "1:*|*:install*|*\\ install*|*:uninstall*|*\\ uninstall*"
    else:
        return []
    text = f"greenroom: this stands for {environment}, into which nothing can be installed"
    told = f"printf '%s\\n' {quote(text)} >&2; exit 1"
    return [f'case "${{_PIP_RUNNING_IN_SUBPROCESS-}}:$*" in {refused}) {told};; esac']


def _exports(environment: str, variables: Pairs, unset: Names) -> list[str]:
    lines = [f"export {name}={quote(value)}" for name, value in variables]
    return [
        f"unset {' '.join(unset)}",
        *lines,
        f"export VIRTUAL_ENV={quote(environment)}",
        f'export PATH={quote(environment + "/bin")}:"$PATH"',
    ]


def _activation(environment: str, variables: Pairs, unset: Names) -> str:
    """Return an ``activate`` for sh, bash and zsh that names the store, and can be undone."""
    saved = dict.fromkeys(("PATH", "VIRTUAL_ENV", *unset, *(name for name, _ in variables)))
    keep = [f'_greenroom_{name}="${{{name}-}}" _greenroom_has_{name}="${{{name}+1}}"' for name in saved]
    back = [
        f"    unset {name}\n"
        f'    if [ -n "$_greenroom_has_{name}" ]; then export {name}="$_greenroom_{name}"; fi\n'
        f"    unset _greenroom_{name} _greenroom_has_{name}"
        for name in saved
    ]
    return "\n".join(
        [
            f"# Activates {quote(environment)} in greenroom's store. Source it: . bin/activate",
            # A function only: some tools have a program of that name on PATH.
            'case "$(LC_ALL=C; type deactivate 2>/dev/null)" in',
            "    *' is a function'*|*' is a shell function'*) deactivate;;",
            "esac",
            *keep,
            *_exports(environment, variables, unset),
            "deactivate() {",
            *back,
            "    unset -f deactivate",
            "}",
            "hash -r 2>/dev/null || true",
            "",
        ]
    )


def _text(path: str, text: str, mode: int) -> None:
    with open(path, "x", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        os.fchmod(file.fileno(), mode)


def _put(temporary: str, path: str) -> None:
    """Put a finished alias at its path; the one that stood there ends up at ``temporary``."""
    try:
        os.rename(temporary, path)
    except OSError:
        if target(path) is None:
            raise
        moving.exchange(path, temporary)
