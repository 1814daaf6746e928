"""Credentials are found, and taken out, wherever a URL can hold them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.locks import credentials

WORDS = st.text("abcDEF019-._~%!$&'()*+,;=", min_size=1, max_size=12)


@given(WORDS, WORDS, st.sampled_from(["http", "https", "git+https", "ftp"]))
def test_a_password_is_found_and_taken_out(user: str, password: str, scheme: str) -> None:
    url = f"{scheme}://{user}:{password}@host.example/simple"
    if "'" in url:
        return  # a quote ends a URL in every format that is read
    assert credentials.find(f"# first line\nindex = {url}") == 2
    assert credentials.strip(url) == f"{scheme}://host.example/simple"
    assert credentials.strip_all(f"a {url} b") == f"a {scheme}://host.example/simple b"


@pytest.mark.parametrize(
    "text",
    [
        "https://host.example/a@b",
        "name @ https://host.example/x",
        "https://${USER}:${TOKEN}@host.example",
        "https://${TOKEN}@host.example",
        "git+ssh://git@host.example/x@main",
        "mail me@host.example",
        "https://host.example?x=a@b",
        "",
    ],
)
def test_what_is_none_is_left(text: str) -> None:
    assert credentials.find(text) is None


def test_the_user_of_ssh_stays() -> None:
    url = "ssh://git@host.example/x"
    assert credentials.strip(url) == url
