"""Start a server's bash line with the variables and logs that NeMo Gym gives it."""

from __future__ import annotations

import os
import subprocess
import sys
from shlex import quote
from typing import IO, TYPE_CHECKING, Any

from greenroom.adapters.nemo_gym import places, settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["run"]


def run(  # noqa: PLR0913 - the signature of the project's own
    command: str,
    working_dir_path: Path,
    server_name: str = "",
    project_root: Path | None = None,
    *,
    global_config_dict: Mapping[str, Any] | None = None,
    stdout_target: IO[Any] | None = None,
    stderr_target: IO[Any] | None = None,
    extra_env: Mapping[str, str] | None = None,
    start_new_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a bash line.

    Its variables are this process's, then ``extra_env``, then PYTHONPATH (the working directory,
    ``project_root``, what was there), UV_CACHE_DIR and UV_LOCK_TIMEOUT from the configuration.

    :param server_name: names the log in ``nemo_gym_log_dir``; the directory's name where it is empty.
    :param global_config_dict: None: NeMo Gym's own of this process.
    :param stdout_target: None: this process's.
    :param start_new_session: whether it leads a session, so that its whole group can be signalled.
    :raises RuntimeError: the working directory lies outside the allowed roots; nothing was started.
    """
    directory = os.path.abspath(working_dir_path)
    for environment in (os.environ, extra_env or {}):
        places.validate(directory, server_name, environment)
    config = settings.current() if global_config_dict is None else global_config_dict
    log_directory = settings.text(config, "nemo_gym_log_dir")
    if log_directory:
        os.makedirs(log_directory, exist_ok=True)
        name = (server_name or os.path.basename(directory)).replace("/", "_")
        command = _logged(command, os.path.abspath(os.path.join(log_directory, f"{name}.log")))
    return subprocess.Popen(
        ["/bin/bash", "-c", command],
        env=_variables(directory, project_root, config, extra_env or {}),
        stdout=_target(stdout_target, sys.stdout),
        stderr=_target(stderr_target, sys.stderr),
        start_new_session=start_new_session,
    )


def _variables(
    directory: str, project_root: Path | None, config: Mapping[str, Any], extra: Mapping[str, str]
) -> dict[str, str]:
    found = {**os.environ, **extra}
    places_ = [directory, *([os.path.abspath(project_root)] if project_root is not None else [])]
    found["PYTHONPATH"] = os.pathsep.join(filter(None, (*places_, found.get("PYTHONPATH"))))
    for name, key in (("UV_CACHE_DIR", "uv_cache_dir"), ("UV_LOCK_TIMEOUT", "uv_lock_timeout")):
        value = settings.text(config, key)
        if value is not None:
            found[name] = value
    return found


def _logged(command: str, file: str) -> str:
    """Return a line that also appends its output to a file, and keeps the line's own exit status."""
    return f"(\n{command}\n) 2>&1 | tee -a {quote(file)}; exit ${{PIPESTATUS[0]}}"


def _target(said: IO[Any] | None, usual: IO[Any] | None) -> IO[Any] | int | None:
    """Return where output goes; a replaced ``sys.stdout`` without a descriptor leaves the process's own."""
    if said is not None or usual is None:
        return said
    try:
        usual.fileno()
    except (OSError, ValueError, AttributeError):
        return None
    return usual
