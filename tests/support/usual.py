"""The usual project: two actors that cannot share an environment, one on the driver's, one server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.support.index import Index

__all__ = ["DECLARATION", "PYPROJECT", "write"]

PYPROJECT = """\
[project]
name = "app"
version = "0"
requires-python = ">=3.11,<3.14"
dependencies = []
[project.optional-dependencies]
a = ["tinylib==2.0.0"]
b = ["tinylib==1.1.1"]
[tool.uv]
conflicts = [[{extra = "a"}, {extra = "b"}]]
"""
DECLARATION = """\
[actors]
"app.A" = ["a"]
"app.B" = ["b"]
"app.C" = false

[servers.s1]
path = "srv"
command = ["python", "main.py", "--port", "{port}"]
"""


def write(
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write the usual project, locked by uv, and serve what it needs.

    :param files: more files, or others in the place of the usual ones.
    """
    for version in ("1.1.1", "2.0.0"):
        module = f"__version__ = {version!r}\n\n\ndef main():\n    print('tiny', __version__)\n"
        index.add_wheel(
            "tinylib", version, files={"tinylib/__init__.py": module}, scripts={"tiny": "tinylib:main"}
        )
    path = project(
        {
            "pyproject.toml": PYPROJECT,
            "greenroom.toml": DECLARATION,
            "srv/requirements.txt": "tinylib==2.0.0\n",
        }
        | dict(files or {})
    )
    uv_lock(path)
    return path
