"""Every key of a document is found on its line, however the document is written."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.declaration.lines import find, line_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.declaration.kinds import Path

TRICKY = """\
# [comment]
a.b . "c.d" = 1  # = [
'e f' = "[x]\\"#"
[[t]]
  x = [
    1, "]",  # ]
    { y = 1, z = [
      2,
    ] },
  ]
s = '''
[no] = 1
'''
[t.u]
v = \"""
\\""\" w = 1
\"""\"
[[t]]
x = 2024-01-01 07:32:00
[ "q\\u0041" . 'r' ]
k = {}
[[t.u.w]]
z = 1
"""
EXPECTED: dict[Path, int] = {
    ("a",): 2,
    ("a", "b", "c.d"): 2,
    ("e f",): 3,
    ("t",): 4,
    ("t", 0): 4,
    ("t", 0, "x"): 5,
    ("t", 0, "x", 0): 6,
    ("t", 0, "x", 1): 6,
    ("t", 0, "x", 2): 7,
    ("t", 0, "x", 2, "y"): 7,
    ("t", 0, "x", 2, "z"): 7,
    ("t", 0, "x", 2, "z", 0): 8,
    ("t", 0, "s"): 11,
    ("t", 0, "u"): 14,
    ("t", 0, "u", "v"): 15,
    ("t", 1): 18,
    ("t", 1, "x"): 19,
    ("qA",): 20,
    ("qA", "r", "k"): 21,
    ("t", 1, "u", "w"): 22,
    ("t", 1, "u", "w", 0, "z"): 23,
}


def test_every_way_of_writing_is_found() -> None:
    tomllib.loads(TRICKY)
    found = find(TRICKY)
    assert {path: line_of(found, path) for path in EXPECTED} == EXPECTED


def test_carriage_returns_count_once() -> None:
    assert find("a = 1\r\n\r\nb = 2\r\n")["b",] == 3


def test_what_is_not_there_has_the_line_around_it_or_none() -> None:
    found = find("\n[a]\nb = [1]\n")
    assert line_of(found, ("a", "b", 0)) == 3
    assert line_of(found, ("a", "x")) == 2
    assert line_of(found, ("x",)) == 0


def basic(text: str) -> str:
    """Write a string with the escapes that it needs."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n"}
    return '"' + "".join(plain.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text) + '"'


KEYS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True), st.text(st.characters(codec="utf-8"), max_size=5)
)
SCALARS = st.one_of(
    st.integers(-9, 9).map(str),
    st.sampled_from(["true", "1.5", "2024-01-01", "2024-01-01 01:02:03", "inf"]),
    st.text(st.sampled_from("a#[]{}=,\\\" '\n\u00e9"), max_size=8).map(basic),
    st.text(st.sampled_from('a#[]{}=,\\" '), max_size=8).map(lambda text: f"'{text}'"),
    st.text(st.sampled_from('a#[]{}=\\" \n'), max_size=8).map(lambda text: f"'''{text}'''"),
    st.text(st.sampled_from("a#[]{}=' \n"), max_size=8).map(lambda text: f'"""{text}"""'),
)


class Writer:
    """Writes a document and notes on which line each key begins."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[Path, int] = {}

    def note(self, path: Path) -> None:
        self.lines[path] = self.text.count("\n") + 1

    def put(self, *pieces: str) -> None:
        self.text += self.draw(st.sampled_from(pieces))

    def key(self, key: str) -> None:
        if not key or not all(c.isascii() and (c.isalnum() or c in "_-") for c in key):
            self.text += basic(key)
        else:
            self.put(key, f'"{key}"', f"'{key}'")

    def pair(self, path: Path, depth: int) -> None:
        self.put("", " ", "\t")
        self.note(path)
        self.key(str(path[-1]))
        self.put(" = ", "=", "\t=  ")
        self.value(path, depth)

    def value(self, path: Path, depth: int) -> None:
        kind = self.draw(st.sampled_from(["scalar", "scalar", "array", "inline"])) if depth else "scalar"
        if kind == "array":
            self.array(path, depth)
        elif kind == "inline":
            self.inline(path, depth)
        else:
            self.text += self.draw(SCALARS)

    def array(self, path: Path, depth: int) -> None:
        self.put("[", "[ ", "[\n", "[ # ] x\n")
        for at in range(self.draw(st.integers(0, 3))):
            self.put("", " ", "\n", "# [\n")
            self.note((*path, at))
            self.value((*path, at), depth - 1)
            self.put(",", " ,", ", # ]\n", "\n,")
        self.put("]", "\n]")

    def inline(self, path: Path, depth: int) -> None:
        self.text += "{"
        keys = self.draw(st.lists(KEYS, max_size=3, unique=True))
        for at, key in enumerate(keys):
            self.text += ", " if at else " "
            self.pair((*path, key), depth - 1)
        self.text += "}"

    def body(self, path: Path) -> None:
        for key in self.draw(st.lists(KEYS, max_size=3, unique=True)):
            self.pair((*path, key), 2)
            self.put("\n", " # = [[x]]\n", "\n\n", "\r\n")

    def header(self, path: Path, keys: list[str], brackets: tuple[str, str]) -> None:
        self.put("", " ", "# [c]\n")
        self.note(path)
        self.text += brackets[0]
        for at, key in enumerate(keys):
            self.text += " . " if at else ""
            self.key(key)
        self.text += f"{brackets[1]} # x\n"
        self.body(path)


@st.composite
def documents(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[str, dict[Path, int]]:
    writer = Writer(draw)
    writer.body(())
    taken = {path[0] for path in writer.lines}
    for at, key in enumerate(
        draw(st.lists(KEYS.filter(lambda key: key not in taken), max_size=4, unique=True))
    ):
        if draw(st.booleans()):
            writer.header((key, str(at)), [key, str(at)], ("[", "]"))
        else:
            for position in range(draw(st.integers(1, 3))):
                writer.header((key, position), [key], ("[[", "]]"))
    return writer.text, writer.lines


@given(documents())
def test_any_document_is_found(document: tuple[str, dict[Path, int]]) -> None:
    text, expected = document
    tomllib.loads(text)
    found = find(text)
    assert {path: line_of(found, path) for path in expected} == expected


@given(st.text(st.sampled_from("a.=[]{}\"'#,\n\\ 1"), max_size=60))
def test_any_text_comes_to_an_end(text: str) -> None:
    assert all(0 < line <= text.count("\n") + 1 for line in find(text).values())


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "a = " + "{b=" * 100_000, ".".join("a" * 3000) + " = 1"]
)
def test_depth_is_no_fault(text: str) -> None:
    assert find(text)["a",] == 1
