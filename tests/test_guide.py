"""The guide is one: each page is in its table of contents, and no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def _anchor(heading: str) -> str:
    """Return the anchor that the usual renderers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_page_is_in_the_table_of_contents() -> None:
    named = set(LINK.findall((ROOT / "docs/README.md").read_text(encoding="utf-8")))
    assert {page.name for page in PAGES} - {"README.md"} <= named


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *PAGES], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_no_link_leads_nowhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        found = page.parent / file if file else page
        assert found.is_file(), target
        if anchor:
            assert anchor in {_anchor(each) for each in HEADING.findall(found.read_text(encoding="utf-8"))}, (
                target
            )
