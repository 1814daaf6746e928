"""The schema is the checker's tables, is committed, and the guide shows what both accept."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from greenroom.declaration import schema, tables
from greenroom.declaration.containers import Either, ListOf, MapOf, Table
from greenroom.declaration.reading import read
from greenroom.errors import Problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.declaration.kinds import Kind

GUIDE = (Path(__file__).parents[2] / "docs/declaration.md").read_text()
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


def keys(kind: Kind) -> Iterator[str]:
    """Yield the name of every key below a kind."""
    if isinstance(kind, Table):
        for key in kind.keys:
            yield key.name
            yield from keys(key.kind)
    elif isinstance(kind, Either):
        for one in kind.kinds:
            yield from keys(one)
    elif isinstance(kind, ListOf):
        yield from keys(kind.items)
    elif isinstance(kind, MapOf):
        yield from keys(kind.values)


@pytest.fixture
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema.schema())


def test_the_committed_schema_is_current() -> None:
    assert Path(schema.path()).read_text() == schema.text()


def test_it_is_a_schema_of_the_draft_that_it_names() -> None:
    jsonschema.Draft202012Validator.check_schema(schema.schema())
    assert json.loads(schema.text())["$schema"].endswith("2020-12/schema")


def test_every_key_stands_in_the_guide() -> None:
    missing = [
        key for key in sorted(set(keys(tables.TOP))) if f"`{key}`" not in GUIDE and f"[{key}" not in GUIDE
    ]
    assert missing == []


def test_the_guide_has_examples() -> None:
    assert len(EXAMPLES) > 15


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_guides_examples_are_valid(
    example: str, validator: jsonschema.Draft202012Validator, tmp_path: Path
) -> None:
    validator.validate(tomllib.loads(example))
    (tmp_path / "greenroom.toml").write_text(example)
    for directory in ("servers/math", "servers/search", "servers/store"):
        (tmp_path / directory).mkdir(parents=True)
        (tmp_path / directory / "requirements.txt").touch()
    (tmp_path / "app").mkdir()
    (tmp_path / "app/actor_environments.py").write_text("ACTOR_ENVIRONMENTS = {}\n")
    read(str(tmp_path / "greenroom.toml"), {})


WRONG = [
    "nothing = 1",
    "[actors]\n'a.B' = true",
    "[actors]\n'a.B' = [1]",
    "[actors]\n'a.B' = ['-']",
    "[actors]\n'a.B' = { extras = [], pyhton = '3' }",
    "[actors]\n'a.B' = { requirements = [] }",
    "[actors]\n'a.B' = { extras = [], link-mode = 'symlink' }",
    "[actors]\n'a.B' = { extras = [], post-install = ['x'] }",
    "[actors]\n'a.B' = { extras = [], env = { '1X' = '' } }",
    "[servers.x]\npath = '~/x'",
    "[servers.x]\npath = ''",
    "[servers.x]\npath = '.'\nport = 0",
    "[servers.x]\npath = '.'\ngrace = -1",
    "[servers.x]\npath = '.'\nreplicas = 1.5",
    "[servers.'../x']\npath = '.'",
    "[stages.all]\nextras = []",
    "[stages.deps]\nextras = []",
    "[[index]]\nname = 'x'",
    "[discover]\nactors = []",
    "store = 'x'",
]


@pytest.mark.parametrize("text", WRONG)
def test_what_the_checker_refuses_the_schema_refuses(
    text: str, validator: jsonschema.Draft202012Validator, tmp_path: Path
) -> None:
    document: dict[str, Any] = tomllib.loads(text)
    assert not validator.is_valid(document)
    (tmp_path / "greenroom.toml").write_text(text)
    (tmp_path / "requirements.txt").touch()
    with pytest.raises(Problems) as caught:
        read(str(tmp_path / "greenroom.toml"), {})
    assert len(caught.value.errors) == 1, caught.value.lines()
