"""Write executables by class name, and an alias for each component, for tools that want paths."""

from __future__ import annotations

import os
from secrets import token_hex
from shlex import quote
from typing import TYPE_CHECKING

from greenroom.errors import ImageNotComplete, StoreFailed, WrapperClash
from greenroom.project import envfile
from greenroom.store import alias
from greenroom.store.model import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.components import Component
    from greenroom.project.model import Plan

__all__ = ["names", "write"]


def names(components: tuple[Component, ...]) -> dict[str, str]:
    """Return the wrapper's name of each actor: ``python-<class name>``.

    :raises WrapperClash: two actors would have the same.
    """
    found: dict[str, str] = {}
    owners: dict[str, str] = {}
    for component in components:
        if component.kind != "actor":
            continue
        wrapper = f"python-{component.name.rpartition('.')[2].rpartition(':')[2]}"
        if wrapper in owners:
            raise WrapperClash(wrapper, owners[wrapper], component.name)
        owners[wrapper] = component.name
        found[component.name] = wrapper
    return found


def write(plan: Plan, directory: str, components: tuple[Component, ...]) -> dict[str, str]:
    """Write an alias for each component and a wrapper for each actor.

    :param plan: of these components.
    :param directory: absolute; made when it is missing.
    :returns: component -> the path that starts its interpreter.
    :raises WrapperClash: two actors' classes have one name; nothing is written.
    :raises ImageNotComplete: an environment is not ready; nothing is written.
    :raises AliasRefused: something else stands where an alias is to go.
    :raises StoreFailed: the operating system refuses.
    """
    wrappers = names(components)
    for problem in plan.problems:
        raise problem.error
    waiting = [found for found in plan.environments if found.state not in {State.READY, State.STALE}]
    if waiting:
        lacking = [name for found in waiting for name in found.components]
        raise ImageNotComplete(f"is {waiting[0].state}: {waiting[0].reason}", lacking)
    environments = {
        name: found.store.environment(found.key) for found in plan.environments for name in found.components
    }
    written = {}
    for component in components:
        environment = environments.get(component.name)
        interpreter = plan.setting.launcher
        variables = _variables(component)
        if environment is not None:
            place = alias.write(directory, component.name, environment, variables.items())
            interpreter, variables = f"{place}/bin/python", {}
        if component.name in wrappers:
            written[component.name] = f"{directory}/{wrappers[component.name]}"
            _wrapper(written[component.name], interpreter, variables)
        elif environment is not None:
            written[component.name] = interpreter
    return written


def _variables(component: Component) -> dict[str, str]:
    """Return the variables that a component is started with; those of its file are read now."""
    file = component.launch.env_file
    return {**dict(envfile.read(file) if file else ()), **dict(component.launch.variables)}


def _wrapper(path: str, interpreter: str, variables: Mapping[str, str]) -> None:
    exports = [f"export {name}={quote(value)}" for name, value in variables.items()]
    text = "\n".join(["#!/bin/sh", *exports, f'exec {quote(interpreter)} "$@"', ""])
    temporary = f"{path}.{token_hex(6)}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o755)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreFailed.of("write the wrapper", path, error) from error
