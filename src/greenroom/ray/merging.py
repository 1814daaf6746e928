"""Merge what greenroom puts into a runtime environment with what the caller and the job have.

Pure: dictionaries in, one dictionary out. Ray overrides field by field when an actor's runtime
environment meets its job's (or its parent's), merges ``env_vars``, and can remove nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.errors import RuntimeEnvConflict
from greenroom.project.launching import REMOVED

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["inherited_names", "merged"]

REFUSED = ("pip", "uv", "conda", "container", "image_uri")
"""Fields that choose an interpreter themselves."""
_OURS = ("py_executable", "greenroom")
_NO_LIMIT = -1
"""Ray's limit for making a runtime environment, switched off: greenroom has its own."""


def merged(
    own: Mapping[str, Any], more: Mapping[str, Any], inherited: Mapping[str, Any], *, actor: str
) -> dict[str, Any]:
    """Return one runtime environment in which all of the caller's fields survive.

    :param own: ``interpreter`` (a path), ``greenroom`` (the plugin's value), ``env_vars``.
    :param more: the caller's fields.
    :param inherited: the runtime environment of the job, or of the actor that creates another.
    :raises RuntimeEnvConflict: a field of the caller or the job wants another interpreter.
    """
    _refuse(own, more, inherited, actor)
    variables = _variables(own["env_vars"], more.get("env_vars") or {}, inherited, actor)
    found = {name: value for name, value in more.items() if value is not None and name not in _OURS}
    found["env_vars"] = variables
    found["config"] = {"setup_timeout_seconds": _NO_LIMIT} | dict(more.get("config") or {})
    found["py_executable"] = _executable(own["interpreter"], _absent(variables, inherited))
    found["greenroom"] = own["greenroom"]
    return found


def inherited_names(inherited: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the variables that a parent actor's own declaration brought."""
    value = inherited.get("greenroom")
    source = value.get("source") if isinstance(value, dict) else None
    names = source.get("variables") if isinstance(source, dict) else None
    return tuple(str(name) for name in names) if isinstance(names, list) else ()


def _refuse(
    own: Mapping[str, Any], more: Mapping[str, Any], inherited: Mapping[str, Any], actor: str
) -> None:
    for field in REFUSED:
        if more.get(field) is not None:
            raise RuntimeEnvConflict(field, actor=actor, whose="the call's runtime_env")
        if inherited.get(field) is not None:
            raise RuntimeEnvConflict(field, actor=actor, whose="the job's runtime_env")
    if more.get("py_executable") not in (None, own["interpreter"]):
        raise RuntimeEnvConflict("py_executable", actor=actor, whose="the call's runtime_env")
    if more.get("greenroom") is not None:
        raise RuntimeEnvConflict("greenroom", actor=actor, whose="the call's runtime_env")


def _variables(
    own: Mapping[str, str], given: Mapping[str, str], inherited: Mapping[str, Any], actor: str
) -> dict[str, str]:
    prefix = own.get("VIRTUAL_ENV")
    if given.get("VIRTUAL_ENV", prefix) != prefix:
        raise RuntimeEnvConflict("env_vars: VIRTUAL_ENV", actor=actor, whose="the call's runtime_env")
    found = {**own, **given}
    path = given.get("PATH") or own.get("PATH") or _job_path(inherited)
    found["PATH"] = f"{prefix}/bin:{path}" if prefix else path
    # Set, not removed: Ray puts the job's working_dir and py_modules in front of it.
    found.setdefault("PYTHONPATH", _job_value("PYTHONPATH", inherited))
    return found


def _job_value(name: str, inherited: Mapping[str, Any]) -> str:
    """Return a variable that the job sets, empty when nobody does or a parent's declaration did."""
    if name in inherited_names(inherited):
        return ""
    return str((inherited.get("env_vars") or {}).get(name, ""))


def _job_path(inherited: Mapping[str, Any]) -> str:
    """Return the PATH behind an environment's ``bin``: the job's, else the node's (Ray expands it there)."""
    variables = inherited.get("env_vars") or {}
    path = str(variables.get("PATH") or "${PATH}")
    parent = variables.get("VIRTUAL_ENV")
    return path.removeprefix(f"{parent}/bin:") if parent else path


def _absent(variables: Mapping[str, str], inherited: Mapping[str, Any]) -> list[str]:
    """Return the variables that a worker must not see, wherever its node's raylet got them from."""
    names = dict.fromkeys((*REMOVED, *inherited_names(inherited)))
    return [name for name in names if name not in variables]


def _executable(interpreter: str, absent: list[str]) -> str:
    """Return the command that starts a worker: Ray can set variables and not remove them, env can."""
    options = "".join(f"-u {name} " for name in absent)
    return f"env {options}{interpreter}" if options else interpreter
