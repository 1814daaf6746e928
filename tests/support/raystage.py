"""A project whose actors cannot share an environment, and the first lines of its drivers."""

from __future__ import annotations

from tests.support.raycluster import ray_version

__all__ = ["PROLOGUE", "stage_files"]

PYPROJECT = f"""\
[project]
name = "app"
version = "0"
requires-python = ">=3.11,<3.14"
dependencies = []
[project.optional-dependencies]
a = ["ray=={ray_version()}", "tinylib==2.0.0"]
b = ["ray=={ray_version()}", "tinylib==1.1.1"]
none = ["tinylib==2.0.0"]
other = ["ray==2.0.0"]
broken = ["ray=={ray_version()}", "rare==1.0"]
[tool.uv]
conflicts = [[
    {{extra = "a"}}, {{extra = "b"}}, {{extra = "none"}}, {{extra = "other"}}, {{extra = "broken"}},
]]
package = false
"""
DECLARATION = """\
[actors]
"stage.A" = ["a"]
"stage.B" = ["b"]
"stage.C" = false
"stage.Rayless" = ["none"]
"stage.Other" = ["other"]
"stage.Broken" = ["broken"]
"""
STAGE = '''\
"""Actors that tell where they run."""

import os
import shutil
import subprocess
import sys


class Base:
    def tell(self):
        import tinylib

        return {
            "tinylib": tinylib.__version__,
            "prefix": sys.prefix,
            "python": sys.version.split()[0],
            "VIRTUAL_ENV": os.environ.get("VIRTUAL_ENV"),
            "PATH": os.environ["PATH"],
            "tiny": shutil.which("tiny"),
            "child": subprocess.run(
                ["python", "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True
            ).stdout.strip(),
        }

    def variables(self):
        return dict(os.environ)

    def files(self):
        return [name for _, folders, files in os.walk(".") for name in (*folders, *files)]


class A(Base):
    pass


class B(Base):
    pass


class C(Base):
    def tell(self):
        return {"prefix": sys.prefix, "VIRTUAL_ENV": os.environ.get("VIRTUAL_ENV")}


class Rayless(Base):
    pass


class Other(Base):
    pass


class Broken(Base):
    pass
'''
PROLOGUE = """\
import json
import logging

import ray

import greenroom.ray
import stage


def tell(value):
    print(json.dumps(value))


def connect(**more):
    ray.init(logging_level=logging.ERROR, log_to_driver=False, **more)


"""


def stage_files() -> dict[str, str]:
    """Return the project's files, path to content; it is locked by ``uv lock``."""
    return {"pyproject.toml": PYPROJECT, "greenroom.toml": DECLARATION, "stage.py": STAGE}
