"""What a command was asked, and what it answers: values between parsing and printing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping

    from greenroom.cli.contract.reports import Problem as Said
    from greenroom.project.model import Problem

__all__ = ["Call", "Result", "problems_of"]


class Call:
    """One command as it was typed, with the surroundings that count.

    Plain classes here: this is on the start-up path, where each dataclass costs.
    """

    __slots__ = ("arguments", "command", "environ", "json", "progress", "quiet", "start", "verbose")

    def __init__(self, command: str, arguments: Namespace, environ: Mapping[str, str]) -> None:
        given = vars(arguments)
        self.command = command
        self.arguments = arguments
        self.environ = environ
        """The caller's variables, with ``--store`` in the place of ``GREENROOM_STORE``."""
        self.start: str | None = given.get("project")
        """``--project``: where the search for the declaration starts; None leaves it to the variables."""
        self.json: bool = given.get("json", False)
        self.quiet: bool = given.get("quiet", False)
        self.verbose: bool = given.get("verbose", False)
        self.progress: bool = not given.get("no_progress", False)


class Result:
    """A command's answer as data: rendered for people or as JSON in one place."""

    __slots__ = ("command", "data", "status")

    def __init__(self, command: str, data: Mapping[str, object], status: int = 0) -> None:
        self.command = command
        self.data = data
        """JSON data; :mod:`greenroom.cli.contract` says its form."""
        self.status = status


def problems_of(problems: Iterable[Problem]) -> list[Said]:
    """Return problems as data."""
    return [
        {
            "components": list(problem.components),
            "kind": type(problem.error).__name__,
            "message": str(problem.error),
            "status": problem.error.status,
        }
        for problem in problems
    ]
