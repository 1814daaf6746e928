"""A project whose image has stages: actors with extras, late packages, and its own source as an editable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import distributions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index

__all__ = ["DECLARATION", "add_sources", "late_wheel", "write"]

DECLARATION = """\
[actors]
"app.policy.Policy" = ["core"]
"app.policy.Reference" = ["core"]
"app.vllm.Worker" = ["vllm"]
"app.vllm.Collector" = ["vllm", "core"]
"app.trt.Engine" = ["trt"]
"app.trt.Fast" = ["trt", "fast"]
"app.env.Env" = false

[stages.trt]
extras = ["trt"]
late-packages = ["trtkern"]

[stages.fast]
extras = ["fast"]
late-packages = ["fastkern"]
"""
EXTRAS = """
[project.optional-dependencies]
core = ["corelib==1.0"]
vllm = ["servelib==2.0"]
trt = ["corelib==1.0", "trtkern"]
fast = ["fastkern"]
"""


def write(
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    *,
    declaration: str = DECLARATION,
    at: str = "app",
) -> Path:
    """Write only what an image's first layer has: declaration, ``pyproject.toml`` and ``uv.lock``."""
    for name, version in (("corelib", "1.0"), ("servelib", "2.0"), ("common", "3.0")):
        index.add_wheel(
            name,
            version,
            files={f"{name}/__init__.py": f"V = {version!r}\n", f"{name}/deep/own.py": "V = 1\n"},
        )
    for name in ("trtkern", "fastkern"):  # what the index has is not what the image is to have
        index.add_wheel(name, "1.0", files={f"{name}/__init__.py": "FROM = 'index'\n"})
    files = distributions.source_files("trainer", "1.0", requires=["common"])
    metadata = files["pyproject.toml"].decode() + EXTRAS
    path = project({"pyproject.toml": metadata, "greenroom.toml": declaration}, at=at)
    add_sources(path)
    uv_lock(path)
    for name in files:
        if name != "pyproject.toml":
            (path / name).unlink()
    return path


def add_sources(path: Path) -> None:
    """Add the project's own source, as the full checkout has it."""
    for name, content in distributions.source_files("trainer", "1.0", requires=["common"]).items():
        if name != "pyproject.toml":
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)


def late_wheel(folder: Path, name: str, version: str = "1.0") -> str:
    """Put a wheel that was compiled in a stage into a folder; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file, content, _ = distributions.wheel(
        name, version, files={f"{name}/__init__.py": "FROM = 'image'\n", f"{name}/ops.py": "V = 1\n"}
    )
    (folder / file).write_bytes(content)
    return str(folder)
