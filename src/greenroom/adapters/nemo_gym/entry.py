"""The program in a set-up line: run by path with ``python -I``, so that a server's modules shadow nothing."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Make one server's environment ready.

    :param arguments: what is wanted, as :meth:`greenroom.adapters.nemo_gym.wanted.Wanted.line` wrote it.
    :returns: 0, or the status of what went wrong.
    """
    from greenroom.adapters.nemo_gym import places, preparing  # noqa: PLC0415 - found by _reach
    from greenroom.adapters.nemo_gym.wanted import parsed  # noqa: PLC0415
    from greenroom.errors import GreenroomError, InterruptedRunError, OutsideRoots  # noqa: PLC0415
    from greenroom.project import allowed  # noqa: PLC0415

    wanted = parsed(arguments[0])
    environ = dict(os.environ)

    def say(line: str) -> None:
        sys.stderr.write(f"({wanted.prefix}) {line}\n")
        sys.stderr.flush()

    try:
        places.validate(wanted.directory, wanted.name, environ)
        outside = allowed.problem(wanted.name, wanted.directory, allowed.roots(environ))
        if isinstance(outside, OutsideRoots):
            raise outside
        preparing.prepare(wanted, environ, say)
    except KeyboardInterrupt:
        return InterruptedRunError.status
    except RuntimeError as error:
        say(str(error))
        return 2
    except GreenroomError as error:
        for line in str(error).splitlines():
            say(line)
        return error.status
    return 0


def _reach() -> None:
    """Make greenroom importable where it is neither installed nor, without PYTHONPATH, found."""
    from importlib.util import find_spec  # noqa: PLC0415 - only as a program

    here = os.path.dirname(os.path.abspath(__file__))
    if find_spec("greenroom") is None:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(here))))


if __name__ == "__main__":
    _reach()
    sys.exit(main(sys.argv[1:]))
