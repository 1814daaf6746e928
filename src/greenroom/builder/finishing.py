"""Run the declaration's post-install commands in an environment that stands at its final path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from greenroom.uv import settings

if TYPE_CHECKING:
    from greenroom.builder.workplace import Workplace

__all__ = ["run_post_install"]

_SHOWN = 100
"""Characters of a command in an error."""


def run_post_install(place: Workplace, environment: str) -> None:
    """Run each argument list in turn; what it says is logged.

    ``{python}`` and ``{environment}`` in an argument stand for the interpreter's path and the environment's
    directory. A bare program name is looked up in the environment's ``bin`` first.

    :param environment: the environment's directory at its final path.
    :raises BuildFailed: one ended with another status than 0.
    """
    python = os.path.join(environment, "bin", "python")
    for arguments in place.job.recipe.post_install:
        filled = [
            word.replace("{python}", python).replace("{environment}", environment) for word in arguments
        ]
        title = f"post-install: {' '.join(filled)}"
        place.enter("install", title)
        # Arguments may be whole programs; the log has them.
        short = title if len(title) <= _SHOWN else f"{title[:_SHOWN]}…"
        place.call(_resolved(filled, environment), variables=_variables(place, environment), title=short)


def _variables(place: Workplace, environment: str) -> dict[str, str]:
    passed = settings.variables(place.run.environ)
    path = os.path.join(environment, "bin") + os.pathsep + passed["PATH"]
    return passed | {"PATH": path, "VIRTUAL_ENV": environment}


def _resolved(arguments: list[str], environment: str) -> list[str]:
    own = os.path.join(environment, "bin", arguments[0])
    return [own, *arguments[1:]] if os.sep not in arguments[0] and os.path.exists(own) else arguments
