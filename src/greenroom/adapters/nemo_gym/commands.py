"""The bash line that makes a server's environment ready and leaves the shell in it."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

from greenroom.adapters.nemo_gym import places, preparing, settings
from greenroom.adapters.nemo_gym.wanted import wanted
from greenroom.store import alias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["legacy_setup", "setup"]

_ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")


def setup(dir_path: str | os.PathLike[str], global_config_dict: Mapping[str, Any], prefix: str) -> str:
    """Return a bash line to be joined with `` && <command>``.

    It goes to the server's directory, makes the environment ready with output marked ``(<prefix>) ``, and
    exports VIRTUAL_ENV and PATH, so that a bare ``python`` is the environment's. When it is ready already,
    the line starts nothing. Where the server has a ``uv.lock``, that decides alone; else what
    :func:`legacy_setup` says.

    :raises RuntimeError: the directory holds both ``requirements.txt`` and ``pyproject.toml``, or neither.
    """
    if settings.flag(global_config_dict, "skip_venv_if_present"):
        present = _present(str(places.venv_path(dir_path, global_config_dict)))
        if present is not None:
            return _joined(dir_path, _exports(present))
    return legacy_setup(dir_path, global_config_dict, prefix)


def legacy_setup(dir_path: str | os.PathLike[str], global_config_dict: Mapping[str, Any], prefix: str) -> str:
    """Return the line without looking for an environment that must only be present.

    What goes in: the server's requirements with what stands beside them, or its project; the
    ``head_server_deps``; pip; and NeMo Gym itself, local in a checkout, else in the driver's version.

    :raises RuntimeError: as :func:`setup`.
    """
    _check_manifest(os.fspath(dir_path))
    asked = wanted(dir_path, global_config_dict, prefix, os.environ)
    done = preparing.ready(asked, os.environ)
    if done is not None:
        return _joined(dir_path, _exports(done))
    program = " ".join(quote(word) for word in (sys.executable, "-I", _ENTRY, asked.line()))
    return _joined(dir_path, f"{program} && source {quote(f'{asked.alias}/bin/activate')}")


def _joined(dir_path: str | os.PathLike[str], rest: str) -> str:
    return f"cd {quote(os.path.abspath(dir_path))} && {rest}"


def _exports(environment: str) -> str:
    return (
        f"unset PYTHONHOME && export VIRTUAL_ENV={quote(environment)} "
        f'PATH={quote(os.path.join(environment, "bin"))}:"$PATH"'
    )


def _present(place: str) -> str | None:
    """Return the environment at a place, ours behind an alias or a prebuilt one; None: there is none."""
    behind = alias.target(place)
    files = [os.path.join(place, "bin", name) for name in ("python", "activate")]
    if behind is not None:
        files.append(os.path.join(behind, "bin", "python"))
    return (behind or place) if all(map(os.path.exists, files)) else None


def _check_manifest(directory: str) -> None:
    found = [
        name
        for name in ("requirements.txt", "pyproject.toml")
        if os.path.exists(os.path.join(directory, name))
    ]
    if len(found) > 1:
        raise RuntimeError(f"{directory} holds both requirements.txt and pyproject.toml: keep one of them")
    if not found:
        raise RuntimeError(
            f"{directory} holds neither requirements.txt nor pyproject.toml: write one of them"
        )
