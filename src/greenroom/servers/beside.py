"""Commands that run beside a server for a moment, in its environment and directory: ``exec`` probes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from greenroom.servers.guarding import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from greenroom.servers.guarding import Guarding
    from greenroom.servers.loop import Loop
    from greenroom.servers.member import Member

__all__ = ["Beside"]

_NOT_FOUND = 127


class Beside:
    """The commands that run now, by the guardian's number."""

    def __init__(self, loop: Loop, guarding: Guarding) -> None:
        self._loop, self._guarding = loop, guarding
        self._ended: dict[int, Callable[[int | None], object]] = {}

    def __contains__(self, number: int) -> bool:
        """Tell whether a number is a command's."""
        return number in self._ended

    def run(
        self,
        number: int,
        member: Member,
        command: tuple[str, ...],
        block: Mapping[str, str],
        *,
        timeout: float,
        done: Callable[[int | None], object],
    ) -> None:
        """Run a command.

        :param timeout: seconds after which it is killed.
        :param done: called with its status; with None when it took too long.
        """
        late = False

        def expire() -> None:
            nonlocal late
            late = True
            self._guarding.kill(number)

        timer = self._loop.after(timeout, expire)

        def ended(status: int | None) -> None:
            timer.cancel()
            done(None if late else status)

        self._ended[number] = ended
        output = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        directory = os.open(member.spec.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        program = member.program(command[0], block)
        try:
            self._guarding.spawn(
                number,
                Order(
                    program=program,
                    name=program,
                    arguments=command[1:],
                    env=block,
                    directory=directory,
                    output=output,
                ),
            )
        finally:
            os.close(output)
            os.close(directory)

    def hear(self, number: int, message: Mapping[str, Any]) -> None:
        """Take what the guardian says of a command."""
        match message["event"]:
            case "refused":
                self._ended.pop(number)(_NOT_FOUND)
            case "exited":
                self._ended[number](message["status"])
            case "gone":
                self._ended.pop(number, None)
