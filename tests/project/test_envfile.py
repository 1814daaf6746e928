"""The file of variables: what it may say, and what is said about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import EnvFileInvalid
from greenroom.project import envfile

if TYPE_CHECKING:
    from pathlib import Path


def _read(tmp_path: Path, text: str) -> dict[str, str]:
    file = tmp_path / ".env"
    file.write_text(text, encoding="utf-8")
    return dict(envfile.read(str(file)))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("  A =  1  ", "1"),
        ("export A=1", "1"),
        ("A=", ""),
        ("A=a b", "a b"),
        ("A=a#b", "a#b"),
        ("A=a # note", "a"),
        ("A='a # $X \\n'", "a # $X \\n"),
        ('A="a\\nb\\t\\"c\\" \\\\ \\$"', 'a\nb\t"c" \\ $'),
        ('A="a" # note', "a"),
        ('A="\\q"', "\\q"),
        ("A=$HOME", "$HOME"),
        ("A=ä=b", "ä=b"),
    ],
)
def test_a_line_gives_its_value(tmp_path: Path, line: str, value: str) -> None:
    assert _read(tmp_path, f"# head\n\n{line}\n") == {"A": value}


@pytest.mark.parametrize("line", ["A", "1A=x", "A B=x", "=x", "A='x", 'A="x', "A='x' y", 'A="x\\"'])
def test_a_line_that_is_no_variable_is_named_with_its_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(EnvFileInvalid, match=r"\.env:2: "):
        _read(tmp_path, f"B=1\n{line}\n")


def test_a_file_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(EnvFileInvalid, match="No such file"):
        envfile.read(str(tmp_path / "absent"))


def test_a_file_that_is_no_text_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"A=\xff\n")
    with pytest.raises(EnvFileInvalid, match="cannot be read"):
        envfile.read(str(tmp_path / "binary"))


@given(
    st.text(
        st.characters(
            exclude_categories=["Cs"], exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
        )
    )
)
def test_every_value_can_be_said_in_double_quotes(value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    assert envfile.parse(f'A="{quoted}"', "f") == (("A", value),)
