"""The runtime-env plugin: a node's agent makes an environment ready before Ray starts a worker in it.

Loaded by ``RAY_RUNTIME_ENV_PLUGINS`` of ``ray start``; the agent reads it once, at its own start. This
module runs in the agent's only event loop, so it imports the standard library and Ray's base class,
never fails at import (``ray start`` would time out without naming the plugin), and builds in a
subprocess.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from typing import Any

try:
    from ray._private.runtime_env.plugin import RuntimeEnvPlugin
except Exception:  # noqa: BLE001 - whatever it is, `ray start` must not die of it without a word
    RuntimeEnvPlugin = object  # type: ignore[assignment,misc]

__all__ = ["GreenroomPlugin", "NotProvided"]

_FIELD = "greenroom"
_LIMIT = 7200.0
"""Seconds for making one environment ready; ``GREENROOM_RAY_LIMIT`` of the node says otherwise."""
_REMEMBERED = 20.0
"""Seconds that a failure is remembered by key: Ray tries three times, a second apart."""
_MOMENT = 10.0
"""Seconds that a build has to end itself."""
_LINE = 1 << 20
"""Bytes that one line of the build's protocol may have."""


class NotProvided(RuntimeError):
    """An environment cannot be made ready on this node; the last line is greenroom's."""

    def __init__(self, message: str) -> None:
        super().__init__(f"the environment is not ready on this node\ngreenroom: {message}")


class GreenroomPlugin(RuntimeEnvPlugin):
    """Make ``{"greenroom": {"key": …, "source": {…}}}`` ready, and start the worker in it.

    It names no URIs, so that Ray's cache never decides: each creation looks at the store, and only
    ``greenroom gc`` deletes.
    """

    name = _FIELD
    priority = 90
    """Behind Ray's own plugins (10): ours decides the interpreter last."""

    def __init__(self) -> None:
        self._failed: dict[str, tuple[float, str]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._interpreters: dict[str, str] = {}

    @staticmethod
    def validate(runtime_env_dict: Any) -> None:
        """Refuse a value of another form.

        :raises ValueError: it is neither a name nor a key with its source.
        """
        value = runtime_env_dict.get(_FIELD)
        good = isinstance(value, str) or (
            isinstance(value, dict) and ("probe" in value or {"key", "source"} <= value.keys())
        )
        if not good:
            message = f"greenroom: {value!r} is no value of greenroom.ray.runtime_env()"
            raise ValueError(message)

    def get_uris(self, runtime_env: Any) -> list[str]:
        """Return none: Ray's cache would hand out what was collected meanwhile."""
        del runtime_env
        return []

    async def create(self, uri: str | None, runtime_env: Any, context: Any, logger: Any) -> float:
        """Make the environment ready, unless it is.

        :returns: 0 bytes, whatever it takes: Ray's cache does not account for it.
        :raises NotProvided: it cannot be; the cause is in the last line.
        """
        del uri, context
        value = runtime_env[_FIELD]
        wanted = _wanted(value)
        if wanted is None:
            return 0
        name = json.dumps(wanted, sort_keys=True)
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            self._refuse_again(name)
            try:
                self._interpreters[name] = await _ready(wanted, logger)
            except NotProvided as error:
                self._failed[name] = (time.monotonic(), str(error))
                raise
        return 0

    def modify_context(self, uris: list[str], runtime_env: Any, context: Any, logger: Any) -> None:
        """Set the worker's interpreter, and what it must see of its environment."""
        del uris, logger
        value = runtime_env[_FIELD]
        if isinstance(value, dict) and "probe" in value:
            context.env_vars["GREENROOM_RAY_PLUGIN"] = _version()
            return
        wanted = _wanted(value)
        if wanted is None:
            return
        interpreter = self._interpreters[json.dumps(wanted, sort_keys=True)]
        command = str(runtime_env.get("py_executable") or "")
        # The driver's command names the same interpreter and says what is removed besides.
        same = command.rpartition(" ")[2] == interpreter
        context.py_executable = command if same else interpreter
        prefix = os.path.dirname(os.path.dirname(interpreter))
        if context.env_vars.get("VIRTUAL_ENV") != prefix:
            context.env_vars["VIRTUAL_ENV"] = prefix
            context.env_vars["PATH"] = f"{prefix}/bin:{context.env_vars.get('PATH', '${PATH}')}"

    def delete_uri(self, uri: str, logger: Any) -> float:
        """Delete nothing: only ``greenroom gc`` does."""
        del uri, logger
        return 0

    def _refuse_again(self, name: str) -> None:
        """Raise a failure of a moment ago: Ray's second and third attempt build nothing."""
        at, message = self._failed.get(name, (0.0, ""))
        if message and time.monotonic() - at < _REMEMBERED:
            raise NotProvided(message.rpartition("greenroom: ")[2])
        self._failed.pop(name, None)


def _wanted(value: Any) -> dict[str, Any] | None:
    """Return what is to be made ready; None for a probe or the driver's interpreter."""
    if isinstance(value, str):
        return {"component": value}
    if "probe" in value or value["key"] is None:
        return None
    return {"key": value["key"], **value["source"]}


async def _ready(wanted: dict[str, Any], logger: Any) -> str:
    """Return the interpreter of an environment that is ready: two stats when it was."""
    there = _there(wanted)
    if there is not None:
        return there
    found = await _provided(wanted, logger)
    if found.get("error"):
        raise NotProvided(str(found["error"]))
    return str(found["interpreter"])


def _there(wanted: dict[str, Any]) -> str | None:
    """Return the interpreter of an environment whose record and interpreter are there."""
    key, store = wanted.get("key"), wanted.get("store")
    interpreter = f"{store}/{key}/bin/python"
    ready = key and store and os.path.isfile(f"{store}/{key}/greenroom.json") and os.path.isfile(interpreter)
    return interpreter if ready else None


async def _provided(wanted: dict[str, Any], logger: Any) -> dict[str, Any]:
    """Run greenroom in a process of its own, log its lines, and return its last word."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "greenroom.ray.node",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        limit=_LINE,
    )
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:  # both are pipes
        return {}
    last: dict[str, Any] = {}
    text = ""
    try:
        stdin.write(json.dumps({"wanted": [wanted]}).encode() + b"\n")
        await stdin.drain()
        async with asyncio.timeout(float(os.environ.get("GREENROOM_RAY_LIMIT") or _LIMIT)):
            async for line in stdout:
                text = line.decode(errors="replace").rstrip()
                logger.info("greenroom: %s", text)
                with contextlib.suppress(ValueError, AttributeError):
                    last = json.loads(text).get("result", last)
            await process.wait()
    except TimeoutError:
        return {"error": "the time limit is over (GREENROOM_RAY_LIMIT)"}
    finally:
        # Its end of the pipe tells it to stop, also when Ray cancels this or the agent dies.
        stdin.close()
        await _ended(process)
    return last or {"error": text or f"greenroom ended with status {process.returncode}"}


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait a moment for a process that was told to stop, then kill it: the guardian ends its builds."""
    try:
        await asyncio.wait_for(process.wait(), _MOMENT)
    except TimeoutError:
        process.kill()
        await process.wait()


def _version() -> str:
    from greenroom import __version__  # noqa: PLC0415 - after `ray start`

    return __version__
