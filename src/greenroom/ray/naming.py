"""Tell by which declared name an actor class, a remote function or a string is meant."""

from __future__ import annotations

import os
import sys
from typing import Any

from greenroom.errors import NotAnActor

__all__ = ["candidates", "original"]


def candidates(actor: Any) -> tuple[str, ...]:
    """Return the names under which an actor may be declared, the likeliest first.

    What a script defines has the module ``__main__``; it is looked for under the name that the script
    would have when imported, too: ``python -m app.train`` is ``app.train``, ``train.py`` is ``train``.

    :param actor: a declared name, a class, or what ``ray.remote`` made of a class or function.
    :raises NotAnActor: it is none of these.
    """
    if isinstance(actor, str):
        return (actor,)
    found = original(actor)
    name = getattr(found, "__qualname__", None)
    module = getattr(found, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str):
        raise NotAnActor(repr(actor))
    modules = [module, *_imported_as()] if module == "__main__" else [module]
    return tuple(f"{each}.{name}" for each in reversed(modules))


def original(actor: Any) -> Any:
    """Return the class or function that Ray's decorator was given; anything else as it is."""
    metadata = getattr(actor, "__ray_metadata__", None)
    if metadata is not None:
        modified = metadata.modified_class
        return getattr(modified, "__ray_actor_class__", modified)
    return getattr(actor, "_function", actor)


def _imported_as() -> list[str]:
    """Return the names that the running script would have if it were imported."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        return [str(spec.name).removesuffix(".__main__")]
    file = getattr(main, "__file__", None)
    return [os.path.splitext(os.path.basename(file))[0]] if file else []
