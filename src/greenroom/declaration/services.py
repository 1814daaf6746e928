"""Make the rules by which a server's process is run from the keys of its table."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from greenroom.components import LogOptions, Probe, Restart, Service
from greenroom.errors import ServiceInvalid, use_one_of

if TYPE_CHECKING:
    from greenroom.declaration.kinds import Path
    from greenroom.declaration.report import Report

__all__ = ["read"]

_PROBES = ("http", "tcp", "log", "exec")
_LIMITS = {"interval": "interval", "timeout": "timeout", "start-period": "start_period"}


def read(table: dict[str, Any], path: Path, report: Report) -> Service:
    """Return how a server is run; what cannot be meant is reported."""
    found: dict[str, Any] = {
        key: table[key] for key in ("host", "port", "socket", "grace", "replicas") if key in table
    }
    if "ready" in table:
        found["ready"] = _probe(table["ready"], (*path, "ready"), report)
    if "restart" in table:
        said = table["restart"]
        found["restart"] = Restart(policy=said) if isinstance(said, str) else _restart(said)
    if "stop-signal" in table:
        found["stop_signal"] = _signal(table["stop-signal"], (*path, "stop-signal"), report)
    if found.get("replicas", 1) > 1 and "port" in found and found.get("socket") != "pass":
        todo = 'leave out the port, so that each has one of its own, or share it with socket = "pass"'
        what = "several processes cannot listen on one fixed port"
        report.add(ServiceInvalid(what, where=report.where((*path, "port")), todo=todo))
    needs = table.get("needs", {})
    return Service(
        needs=tuple(needs.items()) if isinstance(needs, dict) else tuple((name, "ready") for name in needs),
        tags=tuple(table.get("tags", ())),
        log=_log(table.get("log", {}), report.raw.root),
        **found,
    )


def _probe(said: str | dict[str, Any], path: Path, report: Report) -> Probe | None:
    table = {"http": said} if isinstance(said, str) else said
    kinds = [kind for kind in _PROBES if kind in table]
    if report.spoiled(path):
        return None
    if len(kinds) != 1:
        what = f"a probe is one of {', '.join(_PROBES)}; here are {' and '.join(kinds) or 'none'}"
        report.add(ServiceInvalid(what, where=report.where(path), todo="keep one of them"))
        return None
    kind = kinds[0]
    value = table[kind]
    problem = _problem(kind, value)
    if problem is not None:
        report.add(ServiceInvalid(problem[0], where=report.where(path), todo=problem[1]))
        return None
    limits: dict[str, Any] = {name: float(table[key]) for key, name in _LIMITS.items() if key in table}
    probe = Probe(kind=kind, command=tuple(value)) if kind == "exec" else Probe(kind=kind, target=value)
    return replace(probe, **limits)


def _problem(kind: str, value: Any) -> tuple[str, str] | None:
    if kind == "http" and not value.startswith(("http://", "{url}", "{servers.")):
        return f"{value!r} is no http:// URL", "use http, or a command of your own with exec"
    if kind == "tcp" and not re.fullmatch(r".+:(?:\d+|\{[^{}]+\})", value):
        return f"{value!r} is not of the form host:port", "write it like 127.0.0.1:{port}"
    if kind == "log":
        try:
            re.compile(value)
        except re.error as error:
            return f"{value!r} is no regular expression: {error}", "correct it"
    return None


def _restart(table: dict[str, Any]) -> Restart:
    given = {key: table[key] for key in ("limit", "backoff") if key in table}
    return Restart(policy=table.get("policy", "on-failure"), **given)


def _signal(name: str, path: Path, report: Report) -> str:
    full = name if name.startswith("SIG") else f"SIG{name}"
    known = [each.name for each in signal.Signals]
    if full not in known or full in {"SIGKILL", "SIGSTOP"}:
        what = f"{name!r} is no signal that a process can obey"
        report.add(ServiceInvalid(what, where=report.where(path), todo=use_one_of(full, known)))
        return "SIGTERM"
    return full


def _log(table: dict[str, Any], root: str) -> LogOptions:
    given = {
        name: table[key] for key, name in (("rotate-size", "rotate_size"), ("keep", "keep")) if key in table
    }
    directory = table.get("directory")
    return LogOptions(
        directory=None if directory is None else os.path.normpath(os.path.join(root, directory)), **given
    )
