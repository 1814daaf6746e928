"""One Python environment per component of a distributed Python application.

The names below are the whole public API; each is imported when it is first asked for,
because a no-op must start as fast as Python itself allows.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.errors import GreenroomError as GreenroomError
    from greenroom.errors import Problems as Problems
    from greenroom.project.environment import Environment as Environment
    from greenroom.project.facade import Project as Project
    from greenroom.project.facade import load as load
    from greenroom.project.model import Plan as Plan
    from greenroom.project.model import SyncReport as SyncReport

__version__ = "0.1.0"

_HOME = {
    "Environment": "greenroom.project.environment",
    "GreenroomError": "greenroom.errors",
    "Plan": "greenroom.project.model",
    "Problems": "greenroom.errors",
    "Project": "greenroom.project.facade",
    "SyncReport": "greenroom.project.model",
    "load": "greenroom.project.facade",
}
# Names that __getattr__ resolves; sorted, and the same as in the block for type checkers.
__all__ = ["Environment", "GreenroomError", "Plan", "Problems", "Project", "SyncReport", "load"]


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
