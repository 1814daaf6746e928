"""What stands in braces in a server's command, variables and probe.

``{port}``, ``{host}``, ``{name}``, ``{python}``, ``{replica}``, ``{url}``, ``{fd}`` are the server's
own; ``{servers.NAME.url}``, ``….port`` and ``….host`` another one's. Other braces stay as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["fill", "own", "references"]

_OWN = ("port", "host", "name", "python", "replica", "url", "fd")
_PLACE = re.compile(rf"\{{({'|'.join(_OWN)}|servers\.[^{{}}]+\.(?:url|port|host))\}}")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced; one without a value stays."""
    return _PLACE.sub(lambda match: values.get(match[1], match[0]), text) if "{" in text else text


def own(texts: Iterable[str]) -> frozenset[str]:
    """Return which of the server's own placeholders some texts use."""
    return frozenset(match[1] for text in texts for match in _PLACE.finditer(text) if match[1] in _OWN)


def references(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the other servers that some texts name, in their order."""
    found = (match[1] for text in texts for match in _PLACE.finditer(text) if match[1] not in _OWN)
    return tuple(dict.fromkeys(name.removeprefix("servers.").rpartition(".")[0] for name in found))
