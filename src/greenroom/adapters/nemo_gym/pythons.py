"""Which interpreter a server gets: the driver's, unless the server's ``.python-version`` excludes it."""

from __future__ import annotations

import os

from greenroom.interpreters import requests

__all__ = ["admits", "server_request"]


def admits(request: str, version: str) -> bool:
    """Tell whether a request of a ``.python-version`` file admits a full version.

    >>> admits(">=3.13,<3.14", "3.13.2"), admits("3.13.14", "3.13.2")
    (True, False)
    """
    return requests.admits(request, version)


def server_request(dir_path: str | os.PathLike[str], parent_python: str) -> str:
    """Return the request for a server's interpreter: the driver's exact version where it is admitted.

    :param parent_python: the driver's version.
    :returns: ``parent_python``, or what the server's own ``.python-version`` says.
    """
    try:
        with open(os.path.join(dir_path, ".python-version"), encoding="utf-8-sig") as file:
            request = requests.request_of(file.read())
    except (OSError, UnicodeDecodeError):
        return parent_python
    return parent_python if request is None or requests.admits(request, parent_python) else request
