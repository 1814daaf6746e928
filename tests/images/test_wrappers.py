"""Executables by class name and aliases by name, for tools that want paths."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.support import trainer, usual

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command


def test_a_wrapper_starts_the_right_interpreter_with_the_right_variables(
    greenroom: Command,
    index: Index,
    project: Callable[..., Path],
    uv_lock: Callable[..., object],
    tmp_path: Path,
) -> None:
    declaration = usual.DECLARATION.replace(
        '"app.A" = ["a"]', '"app.A" = {extras = ["a"], env = {MODE = "x y"}}'
    )
    path = usual.write(index, project, uv_lock, {"greenroom.toml": declaration})
    greenroom("sync")
    folder = tmp_path / "bin"
    answer = greenroom("image", "wrappers", str(folder))
    assert answer.lines[:3] == [str(folder / f"python-{name}") for name in "ABC"]
    code = "import os, sys; print(sys.prefix == os.environ['VIRTUAL_ENV'], os.environ['MODE'])"
    run = subprocess.run(
        [folder / "python-A", "-c", code], capture_output=True, text=True, check=True, env={}
    )
    assert run.stdout == "True x y\n"
    code = "import tinylib; print(tinylib.__version__)"
    run = subprocess.run(
        [folder / "python-B", "-c", code], capture_output=True, text=True, check=True, env={}
    )
    assert run.stdout == "1.1.1\n"
    subprocess.run([folder / "python-C", "-c", "import sys"], check=True, env={})
    alias = next(entry for entry in folder.iterdir() if entry.name.startswith("app.") and entry.is_dir())
    assert not alias.is_symlink()
    assert not (alias / "pyvenv.cfg").exists()
    assert os.access(alias / "bin/python", os.X_OK)
    greenroom("image", "wrappers", str(folder))
    del path


def test_two_classes_of_one_name_are_an_error_that_names_both(
    greenroom: Command, app: Path, tmp_path: Path
) -> None:
    text = (app / "greenroom.toml").read_text()
    (app / "greenroom.toml").write_text(text.replace('"app.vllm.Worker"', '"other.Policy"'))
    failed = greenroom("image", "wrappers", str(tmp_path / "bin"), status=2)
    assert "app.policy.Policy" in failed.stderr
    assert "other.Policy" in failed.stderr
    assert not (tmp_path / "bin").exists()


def test_nothing_is_written_while_an_environment_is_not_ready(
    greenroom: Command, app: Path, tmp_path: Path
) -> None:
    trainer.add_sources(app)
    failed = greenroom("image", "wrappers", str(tmp_path / "bin"), status=3)
    assert "is missing" in failed.stderr
    greenroom("image", "sync", "--stage", "deps")
    assert "is partial" in greenroom("image", "wrappers", str(tmp_path / "bin"), status=3).stderr
    assert not (tmp_path / "bin").exists()
