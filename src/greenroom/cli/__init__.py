"""The command line: parsing and printing, nothing else. PYTHON_ARGCOMPLETE_OK."""

from __future__ import annotations

import sys

__all__ = ["entry"]


def entry() -> int:
    """Run the command that was typed; the console script.

    :returns: the exit status: 0 done, 1 failed, 2 wrong use, 3 not ready, 130 interrupted.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):
        from greenroom import __version__

        sys.stdout.write(f"greenroom {__version__}\n")
        return 0
    from greenroom.cli.running import main

    return main(sys.argv[1:])
