"""Actor classes and remote functions that run in their own declared environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.errors import RayNotInstalled
from greenroom.ray import environments, naming

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Remote", "options", "remote"]

_FIELD = "runtime_env"


class Remote:
    """What ``ray.remote`` gives, with the declared environment put in when it is created.

    The environment is looked up by each ``.remote()`` and ``.options()``, never where the class is
    defined: a worker that imports the module needs neither the declaration nor a store.
    """

    def __init__(self, made: Any, declared: str | None, settings: Mapping[str, Any]) -> None:
        self._made = made
        self._declared = declared
        self._settings = dict(settings)

    def remote(self, *arguments: Any, **named: Any) -> Any:
        """Create the actor, or start the task, in its environment."""
        return self.options().remote(*arguments, **named)

    def options(self, **more: Any) -> Any:
        """Return it with Ray's options; a ``runtime_env`` among them is joined with the environment."""
        return options(self._made, declared=self._declared, **{**self._settings, **more})

    def __getattr__(self, name: str) -> Any:
        """Answer everything else as Ray does."""
        if name.startswith("_") and not name.startswith("__ray"):  # also while it is being unpickled
            raise AttributeError(name)
        return getattr(self._made, name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Refuse to be called, as Ray does."""
        return self._made(*arguments, **named)


def remote(target: Any = None, /, *, declared: str | None = None, **settings: Any) -> Any:
    """Decorate a class or function so that it runs in its declared environment.

    Also as ``@greenroom.ray.remote(num_cpus=2)``, and for what ``ray.remote`` made already.

    :param declared: the declared name, when it is not the class's own. (``name`` is Ray's: a named actor.)
    :param settings: options of ``ray.remote``.
    :raises RayNotInstalled: there is no Ray here.
    """
    if target is None:
        return lambda found: remote(found, declared=declared, **settings)
    return Remote(_made(target), declared, settings)


def options(target: Any, /, *, declared: str | None = None, **settings: Any) -> Any:
    """Return an actor class (or function) with Ray's options and the environment that is declared for it.

    :param target: a class, a function, or what ``ray.remote`` made of one.
    :param declared: the declared name, when it is not the class's own. (``name`` is Ray's: a named actor.)
    :param settings: Ray's options; a ``runtime_env`` is joined with the environment. Keywords of
        :func:`runtime_env` such as ``missing`` and ``needs`` go into it.
    :raises UnknownActor: it is not declared; and whatever else :func:`runtime_env` raises.
    """
    made = _made(target)
    defaults = getattr(made, "_default_options", None) or {}
    given = dict(settings.pop(_FIELD, None) or defaults.get(_FIELD) or {})
    ours = {key: settings.pop(key) for key in _OURS if key in settings}
    env = environments.runtime_env(declared or naming.original(made), **ours, **given)
    return made.options(**settings, **{_FIELD: env})


_OURS = ("project", "missing", "needs", "allow_mismatch", "env_file")


def _made(target: Any) -> Any:
    if isinstance(target, Remote):
        return target._made  # noqa: SLF001 - our own class
    if hasattr(target, "options") and hasattr(target, "remote"):
        return target
    try:
        import ray  # noqa: PLC0415 - only where it is used
    except ImportError as error:
        raise RayNotInstalled from error
    return ray.remote(target)
