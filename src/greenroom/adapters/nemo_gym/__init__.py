"""NeMo Gym's servers with environments from greenroom's store: its names, signatures and behaviour.

Change the import and go on::

    from greenroom.adapters.nemo_gym import get_venv_path, run_command, setup_env_command

For releases 0.4.0, 0.7.0 and the newer names. omegaconf is not needed: a configuration is any mapping.
"""

from __future__ import annotations

from greenroom.adapters.nemo_gym.commands import legacy_setup as _legacy_setup_env_command
from greenroom.adapters.nemo_gym.commands import setup as setup_env_command
from greenroom.adapters.nemo_gym.host import install_flags as _get_nemo_gym_install_flags
from greenroom.adapters.nemo_gym.host import local_extras as _local_nemo_gym_extras
from greenroom.adapters.nemo_gym.host import version_spec as _get_nemo_gym_version_spec
from greenroom.adapters.nemo_gym.places import ROOTS as NEMO_GYM_ALLOWED_COMPONENT_ROOTS_ENV_VAR_NAME
from greenroom.adapters.nemo_gym.places import validate as _validate_component_working_dir
from greenroom.adapters.nemo_gym.places import venv_path as get_venv_path
from greenroom.adapters.nemo_gym.pythons import admits as _python_request_admits
from greenroom.adapters.nemo_gym.pythons import server_request as _server_python_request
from greenroom.adapters.nemo_gym.running import run as run_command

__all__ = [
    "NEMO_GYM_ALLOWED_COMPONENT_ROOTS_ENV_VAR_NAME",
    "_get_nemo_gym_install_flags",
    "_get_nemo_gym_version_spec",
    "_legacy_setup_env_command",
    "_local_nemo_gym_extras",
    "_python_request_admits",
    "_server_python_request",
    "_validate_component_working_dir",
    "get_venv_path",
    "run_command",
    "setup_env_command",
]
