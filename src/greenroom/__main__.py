"""Run the command as ``python -m greenroom``."""

from __future__ import annotations

import sys

from greenroom.cli import entry

if __name__ == "__main__":
    sys.exit(entry())
