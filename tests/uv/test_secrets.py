"""No credential leaves the program."""

from __future__ import annotations

import pickle
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import ProgramNotStarted
from greenroom.uv.secrets import mask, secrets_of

SECRET = "S3CRETPW"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://bob:S3CRETPW@host/simple", "https://***@host/simple"),
        ("https://S3CRETPW@host/simple", "https://***@host/simple"),
        ("http://bob:S3CRETPW@127.0.0.1:8766/simple", "http://***@127.0.0.1:8766/simple"),
        ("git+https://oauth2:S3CRETPW@host/x.git@main", "git+https://***@host/x.git@main"),
        ("git+https://host/x.git@v1", "git+https://host/x.git@v1"),
        ("git+ssh://git@host/x.git", "git+ssh://***@host/x.git"),
        ("https://bob:S3%40CRETPW@host", "https://***@host"),
        ("https://bob:S3CRET@PW@host/a@b", "https://***@host/a@b"),
        ("https://bob:S3CRET/PW@host/a", "https://***@host/a"),
        ("https://:S3CRETPW@host", "https://***@host"),
        ("https://host:8080/a@b", "https://host:8080/a@b"),
        ("?next=https%3A%2F%2Fbob%3AS3CRETPW%40host%2Fx", "?next=https%3A%2F%2F***%40host%2Fx"),
        ("HTTPS://bob:S3CRETPW@HOST", "HTTPS://***@HOST"),
        ('"https://bob:S3CRETPW@host", x@y', '"https://***@host", x@y'),
        ("a https://u:S3CRETPW@h/ and http://S3CRETPW@i/", "a https://***@h/ and http://***@i/"),
        ("authorization: Basic S3CRETPW==", "authorization: Basic ***"),
        ("Proxy-Authorization: Bearer S3CRETPW", "Proxy-Authorization: Bearer ***"),
        ("{'Authorization': 'Bearer S3CRETPW', 'a': 1}", "{'Authorization': 'Bearer ***', 'a': 1}"),
        ("mail bob@host", "mail bob@host"),
        ("", ""),
    ],
)
def test_credentials_are_masked_and_the_rest_stays(text: str, shown: str) -> None:
    assert mask(text) == shown


def test_known_secrets_are_masked_anywhere_and_in_percent_encoding() -> None:
    secret = "p@ss/w ord"
    text = f"a {secret} b {quote(secret, safe='')} c {quote(secret)}"
    assert mask(text, [secret]) == "a *** b *** c ***"


def test_a_secret_that_is_part_of_another_does_not_leave_its_rest() -> None:
    assert mask("abcdef", ["abc", "abcdef"]) == "***"


USERINFO = st.text(
    st.characters(codec="ascii", exclude_characters="/?#\"'<>`", categories=("L", "N", "P", "S")), min_size=1
)
AROUND = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(before=AROUND, user=USERINFO, password=USERINFO, after=AROUND)
def test_no_password_of_a_url_survives_in_any_text(before: str, user: str, password: str, after: str) -> None:
    url = f"https://{user}:{password}@host.invalid/simple"
    masked = mask(f"{before} {url} {after}")
    assert "https://***@host.invalid/simple" in masked
    assert f"{user}:{password}@" not in masked


@given(text=AROUND, secret=st.text(min_size=3, max_size=12).filter(lambda word: word not in "***"))
def test_no_known_secret_survives_in_any_text(text: str, secret: str) -> None:
    assert secret not in mask(f"{text}{secret}{text}", [secret]).replace("***", "\0")


@given(text=st.text(), secrets=st.lists(st.text(min_size=3).filter(lambda word: "*" not in word), max_size=3))
def test_masking_again_changes_nothing(text: str, secrets: list[str]) -> None:
    once = mask(f"https://u:p@h {text}", secrets)
    assert mask(once, secrets) == once


def test_the_mask_does_not_tell_the_length() -> None:
    assert mask("https://u:p@h") == mask("https://u:a-very-long-password-indeed@h")


def test_the_secrets_of_variables_are_found() -> None:
    environ = {
        "UV_INDEX_PRIVATE_USERNAME": "__token__",
        "UV_INDEX_PRIVATE_PASSWORD": "one",
        "UV_INDEX_URL": "https://bob:two@host/simple",
        "UV_EXTRA_INDEX_URL": "https://three@host/simple https://bob:fo%75r@host",
        "HTTPS_PROXY": "http://me:five@proxy:3128",
        "HF_TOKEN": "six",
        "SOME_API_KEY": "seven",
        "GIT_URL": "ssh://git@host/x",
        "PATH": "/bin",
        "EMPTY_PASSWORD": "",
        "TOKENIZERS_PARALLELISM": "false",
        "UV_CREDENTIALS_DIR": "/credentials",
    }
    assert secrets_of(environ) == ("five", "fo%75r", "one", "seven", "six", "three", "two")
    assert mask("four fo%75r", secrets_of(environ)) == "*** ***"


def test_an_error_shows_what_it_was_given_masked() -> None:
    error = ProgramNotStarted(mask("https://bob:S3CRETPW@host/uv"), "gone")
    assert SECRET not in str(error) + repr(error) + repr(pickle.loads(pickle.dumps(error)).__dict__)  # noqa: S301 - our own bytes
