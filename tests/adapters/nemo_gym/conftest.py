"""A tiny NeMo Gym: servers in directories with odd names, and an index that has what they need."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index


@pytest.fixture
def driver(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, index: Index) -> dict[str, str]:
    """Give this process the variables of a test's own, and an index with NeMo Gym and a driver's Ray."""
    for name in list(os.environ):
        if name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    for version in ("0.4.0", "0.7.0", "0.8.0rc1"):
        files = {"nemo_gym/__init__.py": f"__version__ = {version!r}\n"}
        index.add_wheel("nemo-gym", version, extras={"dev": ["gymtool"]}, files=files)
    index.add_wheel("gymtool", "5")
    index.add_wheel("ray", "2.60.0", extras={"default": []})
    index.add_wheel("pip", "26.0")
    index.add_wheel("fastapi", "0.115")
    index.add_wheel("fastapi", "1.0")
    return environ


@pytest.fixture
def gym_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make NeMo Gym 0.7.0 one of this process's distributions."""
    metadata = tmp_path / "site" / "nemo_gym-0.7.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: nemo-gym\nVersion: 0.7.0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])


@pytest.fixture
def server(project: Callable[..., Path]) -> Path:
    """Return a server's directory whose name is trouble in a shell."""
    requirements = "-e nemo-gym[dev] @ ../../\n"
    where = 'my gym/resources_servers/it\'s "a" $(touch x) `touch y`'
    return project({"requirements.txt": requirements, "app.py": APP}, at=where)


APP = """\
import json, os, sys, nemo_gym
print(json.dumps([nemo_gym.__version__, sys.prefix, os.environ["VIRTUAL_ENV"], os.getcwd(), sys.argv[1:]]))
"""
