"""Lock a source that has no lock of its own: write ``greenroom.lock/pylock.<name>.toml``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.builder.events import Observer
    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter

__all__ = ["lock"]


def lock(
    spec: EnvironmentSpec,
    root: str,
    interpreter: Interpreter,
    *,
    observer: Observer,
    environ: Mapping[str, str],
    component: str = "",
    upgrade: bool = False,
    offline: bool = False,
) -> str:
    """Resolve the requirements of ``spec`` for all platforms and write its lock.

    :param root: the declaration's directory, in which ``greenroom.lock/`` stands.
    :param component: whom to name in an error.
    :param upgrade: forget the pins of the lock that is there.
    :returns: the absolute path of the lock.
    :raises LockingFailed: uv found no resolution, or could not read an input.
    """
    raise NotImplementedError
