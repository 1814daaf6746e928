"""An actor that was written for semver 2."""

from __future__ import annotations

import sys


class Releaser:
    def next(self, version: str) -> str:
        import semver

        return str(semver.VersionInfo.parse(version).bump_minor())

    def tell(self) -> str:
        import semver

        return f"Releaser: semver {semver.__version__} in {sys.prefix}"
