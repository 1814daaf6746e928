"""One Python environment per component of a distributed Python application.

The names below are the whole public API; each is imported when it is first asked for,
because a no-op must start as fast as Python itself allows.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.errors import GreenroomError as GreenroomError
    from greenroom.project import Environment as Environment
    from greenroom.project import Project as Project
    from greenroom.project import load as load

__version__ = "0.1.0"

_HOME = {
    "Environment": "greenroom.project",
    "GreenroomError": "greenroom.errors",
    "Project": "greenroom.project",
    "load": "greenroom.project",
}
__all__ = ["Environment", "GreenroomError", "Project", "load"]  # noqa: F822 - resolved by __getattr__


def __getattr__(name: str) -> object:
    """Import a public name from its home on first use.

    :raises AttributeError: the name is not public.
    """
    if name not in _HOME:
        msg = f"module 'greenroom' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module  # noqa: PLC0415 - only when a name is asked for

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names and nothing else."""
    return __all__
