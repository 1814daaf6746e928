"""The texts from which an image is built: golden, and what decides them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import trainer

import greenroom as package

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

DATA = Path(__file__).parents[1] / "data" / "images"


def golden(name: str, text: str) -> None:
    """Compare with the file; GREENROOM_TEST_WRITE=1 writes it."""
    file = DATA / name
    text = text.replace(package.__version__, "{version}")
    if os.environ.get("GREENROOM_TEST_WRITE"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


def test_the_texts_of_a_project_with_stages(greenroom: Command, app: Path) -> None:
    data = greenroom("image", "dockerfile", "--base", "python:3.12-slim", "--json").json()["data"]
    golden("stages.Dockerfile", data["files"]["Dockerfile"])
    golden("stages.dockerignore", data["files"][".dockerignore"])
    again = greenroom("image", "dockerfile", "--base", "python:3.12-slim", "--json").json()["data"]
    assert again == data
    trainer.add_sources(app)
    full = greenroom("image", "dockerfile", "--base", "python:3.12-slim", "--json").json()["data"]
    assert full == data, "the full checkout gives the same"


def test_the_texts_of_servers_without_stages(greenroom: Command, project: Callable[..., Path]) -> None:
    declaration = """
        [servers.math]
        path = "servers/math"
        command = ["python", "app.py"]
        [servers."a b"]
        path = "servers/a b"
        command = ["python", "app.py"]
        [store]
        path = "environments"
        """
    project(
        {
            "greenroom.toml": declaration,
            "servers/math/requirements.txt": "-r ../base.txt\n",
            "servers/base.txt": "tinylib\n",
            "servers/math/app.py": "",
            "servers/a b/requirements.txt": "tinylib\n",
            "greenroom.lock/pylock.math.toml": "",
        }
    )
    arguments = ("--base", "registry.example/base:1", "--no-install", "--skip-extra")
    data = greenroom("image", "dockerfile", *arguments[:-1], "--json").json()["data"]
    golden("servers.Dockerfile", data["files"]["Dockerfile"])
    assert "environments\n" in data["files"][".dockerignore"]


def test_files_are_written_and_foreign_ones_are_left(greenroom: Command, app: Path) -> None:
    greenroom("image", "dockerfile", "--output", str(app))
    first = (app / "Dockerfile").read_text()
    assert (app / ".dockerignore").exists()
    greenroom("image", "dockerfile", "--output", str(app), "--skip-extra", "vllm")
    assert "--skip-extra vllm" in (app / "Dockerfile").read_text() != first
    (app / "Dockerfile").write_text("FROM scratch\n")
    refused = greenroom("image", "dockerfile", "--output", str(app), status=2)
    assert "Dockerfile" in refused.stderr
    assert (app / "Dockerfile").read_text() == "FROM scratch\n"
    assert "vllm" in greenroom("image", "dockerfile", "--skip-extra", "vll", status=2).stderr


def test_a_needed_file_outside_of_the_context_is_an_error(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project(
        {
            "greenroom.toml": '[servers.one]\npath = "one"\ncommand = ["x"]\nrequirements = "../other.txt"\n',
            "one/app.py": "",
        }
    )
    project({"other.txt": "tinylib\n"}, at=".")
    refused = greenroom("image", "dockerfile", status=2)
    assert "other.txt" in refused.stderr


@pytest.mark.parametrize("late", [True, False])
def test_a_stage_mounts_wheels_only_where_a_package_is_late(
    greenroom: Command,
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    *,
    late: bool,
) -> None:
    lines = 'late-packages = ["trtkern"]\n'
    declaration = trainer.DECLARATION if late else trainer.DECLARATION.replace(lines, "")
    trainer.write(index, project, uv_lock, declaration=declaration)
    text = greenroom("image", "dockerfile").stdout
    assert ("source=/trt," in text) == late
