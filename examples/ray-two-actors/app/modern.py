"""An actor that needs semver 3, and asks the other one."""

from __future__ import annotations

import sys
from typing import Any

import ray


class Checker:
    def __init__(self, releaser: Any) -> None:
        self.releaser = releaser

    def check(self, version: str) -> str:
        import semver

        following = ray.get(self.releaser.next.remote(version))
        compatible = semver.Version.parse(version).is_compatible(semver.Version.parse(following))
        return f"{version} -> {following}: {'compatible' if compatible else 'incompatible'}"

    def tell(self) -> str:
        import semver

        return f"Checker: semver {semver.__version__} in {sys.prefix}"
