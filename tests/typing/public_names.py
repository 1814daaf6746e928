"""Type-checked, never run: what the public names promise to users' code."""

from __future__ import annotations

import os
from typing import assert_type

import greenroom


def use() -> None:
    """Walk the way that the README shows."""
    project = greenroom.load()
    assert_type(project, greenroom.Project)
    environment = project.environment("app.policy.Worker")
    assert_type(environment, greenroom.Environment)
    assert_type(environment.ready, bool)
    assert_type(environment.key, str | None)
    assert_type(environment.path, str | None)
    assert_type(environment.python, str)
    project.sync(on_event=print)
    environment.command(["-m", "app"])
    environment.variables(os.environ)
    environment.run(["-m", "app"])


def fail(error: greenroom.GreenroomError) -> int:
    """Read an error's fields."""
    assert_type(error.where, str | None)
    assert_type(error.todo, str | None)
    return error.status
