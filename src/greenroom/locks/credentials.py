"""Find credentials in sources, and take user information out of URLs."""

from __future__ import annotations

import re

from greenroom.errors import SecretInSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["find", "refuse", "strip"]

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


def refuse(text: str, file: str, *, relevant: Callable[[str], bool] = bool) -> None:
    """Stop when a text holds a credential.

    :param relevant: tells of a line whether it counts; comments of a requirements file do, too.
    :raises SecretInSource: naming file and line.
    """
    if find(text) is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if relevant(line) and find(line) is not None:
            raise SecretInSource(file, number)


def strip(url: str) -> str:
    """Return a URL without its user information; ssh's user name stays, it is part of the place."""
    match = _USERINFO.match(url)
    if match is None or (match["scheme"].endswith("ssh") and ":" not in match["user"]):
        return url
    return f"{match['scheme']}://{url[match.end() :]}"


def _is_secret(scheme: str, user: str) -> bool:
    name, _, password = user.partition(":")
    if password:
        return not _is_variable(password)
    return not (scheme.endswith("ssh") or name == "git" or _is_variable(name))


def _is_variable(text: str) -> bool:
    return re.fullmatch(r"\$\{[A-Z0-9_]+\}", text) is not None
