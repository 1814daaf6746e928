"""The demo and the README tell the truth."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from greenroom.cli.grammar import COMMANDS
from tests.support import pythons
from tests.support.workspace import Command

if TYPE_CHECKING:
    from tests.support.index import Index

REPOSITORY = Path(__file__).parent.parent
README_FILE = REPOSITORY / "README.md"
README = README_FILE.read_text(encoding="utf-8")


def _shape(text: str) -> list[str]:
    """Return the lines without what differs from run to run: times, sizes, keys, the scratch folder."""
    text = re.sub(r"/\S*/(?=store)", "…/", text)
    text = re.sub(r"cp3\d+-[a-z2-7]{8,}", "KEY", text)
    text = re.sub(r"(cp|python|Python |CPython )3[.\d]*", "PYTHON", text)
    text = re.sub(r"\d+([.,]\d+)? ?(ms|s|kB|MB|B|files)\b", "FIGURE", text)
    # Sorted: which of two builds is ready first is open.
    return sorted(re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip())


def _shown_in_readme() -> str:
    found = re.search(r"```console\n\$ scripts/demo\n(.*?)```", README, re.DOTALL)
    assert found, "the README shows no demo"
    return found[1]


@pytest.mark.online
@pytest.mark.slow
def test_the_demo_shows_what_the_readme_shows(tmp_path: Path) -> None:
    machine = {
        name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ
    }
    env = {**machine, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHON": pythons.base().path}
    demo = Command(str(shutil.which("bash")), cwd=REPOSITORY, env=env)
    outcome = demo("-c", "scripts/demo 2>&1")
    assert _shape(outcome.stdout) == _shape(_shown_in_readme())
    assert not list(tmp_path.glob("tmp*")), "the demo left its scratch folder"


def test_the_readme_lists_every_command() -> None:
    rows = "".join(f"| `greenroom {name}` | {what} |\n" for name, (_, what) in COMMANDS.items())
    table = f"| command | what it does |\n|---|---|\n{rows}"
    shown = re.search(r"\| command \| what it does \|\n(\|.*\n)*", README)
    assert shown, "the README has no table of commands"
    if "GREENROOM_TEST_WRITE" in os.environ:
        README_FILE.write_text(README.replace(shown[0], table), encoding="utf-8")
    else:
        assert shown[0] == table, "write it anew with GREENROOM_TEST_WRITE=1"


def test_the_examples_declaration_is_right(index: Index, greenroom: Command) -> None:
    outcome = greenroom("list", "--json", "--project", REPOSITORY / "examples/two-actors")
    assert "app.legacy.Reader" in outcome.stdout
    assert index.requests == ()
