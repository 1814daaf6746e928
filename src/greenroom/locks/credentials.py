"""Find credentials in sources, and take user information out of URLs."""

from __future__ import annotations

import re

from greenroom.errors import SecretInSource

__all__ = ["find", "refuse", "strip", "strip_all"]

_USERINFO = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<user>[^\s/?#\"'<>`@]+(?:@[^\s/?#\"'<>`@]+)*)@"
)


def find(text: str) -> int | None:
    """Return the line (1-based) of the first credential in a text, or None.

    User information counts, with two exceptions: a mere user name of ssh, and ``git``, the name
    that hosts use for everybody. A variable (``${TOKEN}``) is no credential.
    """
    if "@" not in text:
        return None
    for match in _USERINFO.finditer(text):
        if _is_secret(match["scheme"], match["user"]):
            return text.count("\n", 0, match.start()) + 1
    return None


def refuse(text: str, file: str) -> None:
    """Stop when a text holds a credential.

    :raises SecretInSource: naming file and line.
    """
    line = find(text)
    if line is not None:
        raise SecretInSource(file, line)


def strip(url: str) -> str:
    """Return a URL without its user information; ssh's user name stays, it is part of the place."""
    match = _USERINFO.match(url)
    if match is None or (match["scheme"].endswith("ssh") and ":" not in match["user"]):
        return url
    return f"{match['scheme']}://{url[match.end() :]}"


def strip_all(text: str) -> str:
    """Return a text with every URL's user information taken out, as :func:`strip` does for one."""
    if "@" not in text:
        return text
    return _USERINFO.sub(lambda match: strip(match[0]), text)


def _is_secret(scheme: str, user: str) -> bool:
    name, _, password = user.partition(":")
    if password:
        return not _is_variable(password)
    return not (scheme.endswith("ssh") or name == "git" or _is_variable(name))


def _is_variable(text: str) -> bool:
    return re.fullmatch(r"\$\{[A-Z0-9_]+\}", text) is not None
