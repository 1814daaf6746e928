"""The right environment on every node of a Ray cluster.

The names below are the public API of ``greenroom[ray]``; each is imported when it is first asked
for. Ray itself is imported only inside of functions that use it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.ray.classes import options as options
    from greenroom.ray.classes import remote as remote
    from greenroom.ray.environments import python_executable as python_executable
    from greenroom.ray.environments import runtime_env as runtime_env
    from greenroom.ray.explaining import explain as explain
    from greenroom.ray.model import Preparation as Preparation
    from greenroom.ray.preparing import prepare as prepare

_HOME = {
    "Preparation": "greenroom.ray.model",
    "explain": "greenroom.ray.explaining",
    "options": "greenroom.ray.classes",
    "prepare": "greenroom.ray.preparing",
    "python_executable": "greenroom.ray.environments",
    "remote": "greenroom.ray.classes",
    "runtime_env": "greenroom.ray.environments",
}
# Names that __getattr__ resolves; sorted, and the same as in the block for type checkers.
__all__ = ["Preparation", "explain", "options", "prepare", "python_executable", "remote", "runtime_env"]


def __getattr__(name: str) -> object:
    """Import a public name from its home on first use.

    :raises AttributeError: the name is not public.
    """
    if name not in _HOME:
        msg = f"module 'greenroom.ray' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module  # noqa: PLC0415 - only when a name is asked for

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names and nothing else."""
    return __all__
