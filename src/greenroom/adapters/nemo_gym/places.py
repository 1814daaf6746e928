"""Where a server's environment is looked for, and where a server may stand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom.adapters.nemo_gym import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["validate", "venv_path"]

ROOTS = "NEMO_GYM_ALLOWED_COMPONENT_ROOTS"
"""The variable that names the directories in which servers may stand, separated by ``os.pathsep``."""


def venv_path(dir_path: str | os.PathLike[str], global_config_dict: Mapping[str, Any]) -> Path:
    """Return where a server's environment is: ``uv_venv_dir/<type>/<name>/.venv``, else beside the server.

    It is beside the server where ``uv_venv_dir`` is not said or is NeMo Gym's own root. What stands there
    is an alias, whose ``bin/python`` starts the store's interpreter.
    """
    directory = Path(dir_path)
    root = settings.text(global_config_dict, "uv_venv_dir")
    own = settings.host_root()
    if root is None or (own is not None and os.path.realpath(root) == own):
        return Path(os.path.abspath(directory / ".venv"))
    return Path(os.path.abspath(Path(root, *directory.absolute().parts[-2:], ".venv")))


def validate(
    working_dir_path: str | os.PathLike[str], server_name: str, environment: Mapping[str, str]
) -> None:
    """Refuse a server whose real directory lies in none of the allowed roots.

    :param environment: the variables that count.
    :raises RuntimeError: it does, naming server, directory and roots.
    """
    roots = [os.path.realpath(root) for root in environment.get(ROOTS, "").split(os.pathsep) if root]
    real = os.path.realpath(working_dir_path)
    if roots and not any(os.path.commonpath((real, root)) == root for root in roots):
        name = server_name or os.path.basename(real)
        listed = ", ".join(roots)
        raise RuntimeError(
            f"server {name!r}: {real} is outside the allowed component roots {listed} (change {ROOTS})"
        )
