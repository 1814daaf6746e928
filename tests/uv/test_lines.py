"""A program's output becomes lines, whatever it writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.uv.lines import Lines


def _lines(*blocks: bytes) -> list[str]:
    lines = Lines()
    return [line for block in blocks for line in lines.feed(block)] + list(lines.rest())


def test_newlines_carriage_returns_and_both_end_lines() -> None:
    assert _lines(b"a\nb\r\nc\rd") == ["a", "b", "c", "d"]


def test_an_end_that_is_cut_in_two_is_one_end() -> None:
    assert _lines(b"a\r", b"\nb") == ["a", "b"]
    assert _lines(b"a\r", b"b") == ["a", "b"]


def test_empty_lines_stay() -> None:
    assert _lines(b"a\n\nb\n") == ["a", "", "b"]


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    assert _lines(b"\xff\xfe\nok\n", b"\xc3") == ["\ufffd\ufffd", "ok", "\ufffd"]


def test_a_character_cut_in_two_is_whole() -> None:
    assert _lines("ä".encode()[:1], "ä".encode()[1:]) == ["ä"]


def test_colours_and_cursor_movements_are_left_out() -> None:
    assert _lines(b"\x1b[1;31merror\x1b[0m\x1b]0;title\x07: \x08x\n") == ["error: x"]


def test_a_line_without_an_end_comes_in_pieces() -> None:
    pieces = _lines(*[b"x" * 50_000] * 5)
    assert "".join(pieces) == "x" * 250_000
    assert max(map(len, pieces)) <= 1 << 16


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_how_the_bytes_are_cut_does_not_matter(blocks: list[bytes]) -> None:
    assert _lines(*blocks) == _lines(b"".join(blocks))
