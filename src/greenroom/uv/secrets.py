"""Hide credentials wherever text leaves the program.

The mask has one width, so that it tells nothing of what it hides.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["mask", "secrets_of"]

MASK = "***"

_SHORTEST = 3
"""Shorter secrets are hidden in URLs only: replacing one letter everywhere would hide nothing."""

_SCHEME = r"[a-z][a-z0-9+.\-]*"
_USERINFO = re.compile(rf"({_SCHEME}://)([^\s/?#\"'<>`]*)@", re.IGNORECASE)
# A raw slash in a password is no valid URL; its tail would stay readable. A port is digits only.
_BROKEN = re.compile(
    rf"({_SCHEME}://)([^\s/?#@:\"'<>`]*:(?!\d*(?:[/?#\s\"'<>`]|$))[^\s\"'<>`]*)@",
    re.IGNORECASE,
)
# A whole URL as another one's parameter.
_ENCODED = re.compile(rf"({_SCHEME}%3a%2f%2f)((?:(?!%2f|%3f|%23)[^\s&#\"'<>`])*)%40", re.IGNORECASE)
_HEADER = re.compile(
    r"((?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?\s*(?:[a-z]+\s+)?)[^\s'\",]+", re.IGNORECASE
)
# At the end of a name: TOKENIZERS_PARALLELISM holds no secret.
_SECRET_NAME = re.compile(
    r"(?:PASSWORD|PASSWD|PASSPHRASE|TOKEN|SECRET|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY|API_?KEY)$", re.IGNORECASE
)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace every URL's user info and every given secret by ``***``.

    :param text: what is about to leave the program.
    :param secrets: values known to be secret (:func:`secrets_of`); their percent-encoded forms
        are replaced too. Those shorter than three characters are only hidden in URLs.
    :returns: the text without them; masking it again changes nothing.
    """
    if "://" in text:
        text = _BROKEN.sub(rf"\1{MASK}@", _USERINFO.sub(rf"\1{MASK}@", text))
    if "%" in text:
        text = _ENCODED.sub(rf"\1{MASK}%40", text)
    text = _HEADER.sub(rf"\1{MASK}", text)
    for secret in sorted(_spellings(secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secret values among variables, for :func:`mask`.

    Those are the values of variables with a secret's name (``UV_INDEX_PRIVATE_PASSWORD``,
    ``HF_TOKEN``), and the passwords, or tokens in the user's place, of URLs in any variable.

    :returns: sorted, each once.
    """
    found: set[str] = set()
    for name, value in environ.items():
        if _SECRET_NAME.search(name):
            found.add(value.strip())
        for match in _USERINFO.finditer(value):
            user, _, password = match.group(2).partition(":")
            found.add(password or user)
    return tuple(sorted(found - {"", "git", MASK}))


def _spellings(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
        for spelling in {secret, quote(secret, safe=""), quote(secret), unquote(secret)}:
            if len(spelling) >= _SHORTEST and spelling != MASK:
                yield spelling
