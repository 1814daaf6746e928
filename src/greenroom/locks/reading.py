"""Read whatever source an environment has as locked data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.locks.model import Selection

__all__ = ["inputs", "read", "requires_python"]


def read(spec: EnvironmentSpec, root: str, target: Interpreter, environ: Mapping[str, str]) -> Selection:
    """Return what the source's lock gives for one target."""
    raise NotImplementedError


def inputs(spec: EnvironmentSpec, root: str) -> tuple[str, ...]:
    """Return the files whose stat decides what :func:`read` gives, absent ones included."""
    raise NotImplementedError


def requires_python(spec: EnvironmentSpec, root: str) -> str | None:
    """Return the source's own request for an interpreter (``requires-python`` of its lock)."""
    raise NotImplementedError
