"""Package indexes of a declaration, and credentials that must not stand in one."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from greenroom.actor_environments import normalized
from greenroom.components import Index
from greenroom.errors import DuplicateName, SecretInDeclaration

if TYPE_CHECKING:
    from greenroom.declaration.report import Report

__all__ = ["has_credentials", "read"]

_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^\s/?#\"'<>`]*)@")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")


def has_credentials(text: str) -> bool:
    """Return whether a URL in a text has a user part that may be secret.

    None is the mere user name of ssh, the name ``git``, and a variable (``${TOKEN}``).
    """
    for scheme, user in _USER.findall(text):
        name, _, password = user.partition(":")
        secret = password or ("" if scheme.endswith("ssh") or name == "git" else name)
        if secret and not _VARIABLE.fullmatch(secret):
            return True
    return False


def read(tables: list[dict[str, Any]], root: str, report: Report) -> tuple[Index, ...]:
    """Return the declared indexes, in order."""
    found: dict[str, Index] = {}
    for at, table in enumerate(tables):
        name, url = table["name"], table["url"]
        if has_credentials(url):
            variable = f"UV_INDEX_{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}"
            todo = f"take them out and set {variable}_USERNAME and {variable}_PASSWORD, or use a netrc file"
            report.add(SecretInDeclaration("the URL holds credentials", where=_where(report, at), todo=todo))
        if normalized(name) in found:
            first = report.where(("index", list(found).index(normalized(name))))
            report.add(DuplicateName("index", name, where=_where(report, at), first=first))
        found[normalized(name)] = Index(
            name=name,
            url=url if "://" in url else os.path.normpath(os.path.join(root, url)),
            explicit=table.get("explicit", False),
            default=table.get("default", False),
        )
    return tuple(found.values())


def _where(report: Report, at: int) -> str:
    return report.where(("index", at, "url"))
