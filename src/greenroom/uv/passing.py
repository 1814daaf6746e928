"""The variables that uv and its builds get from the caller: this list, and nothing else.

https://docs.astral.sh/uv/reference/environment/
"""

from __future__ import annotations

__all__ = ["is_passed"]

PASSED = {
    # programs, and where their own files are
    **dict.fromkeys(
        ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR"), "builds run compilers, git and such"
    ),
    **dict.fromkeys(("LANG", "LANGUAGE", "TZ"), "their messages"),
    # the network
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"), "proxies"),
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "no_proxy"), "proxies"),
    **dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"), "certificates of indexes"),
    **dict.fromkeys(
        ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC"), "the same, for a build's own downloads"
    ),
    # uv's transport
    **dict.fromkeys(
        ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"), "the operator's indexes"
    ),
    **dict.fromkeys(("UV_FIND_LINKS", "UV_INSECURE_HOST", "UV_KEYRING_PROVIDER"), "reaching indexes"),
    **dict.fromkeys(("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_CREDENTIALS_DIR"), "reaching indexes"),
    **dict.fromkeys(("UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_REQUEST_TIMEOUT"), "slow networks"),
    **dict.fromkeys(("UV_HTTP_RETRIES", "UV_OFFLINE", "UV_CACHE_DIR"), "slow or no networks"),
    **dict.fromkeys(("UV_CONCURRENT_DOWNLOADS", "UV_CONCURRENT_BUILDS", "UV_CONCURRENT_INSTALLS"), "speed"),
    **dict.fromkeys(("UV_PYTHON_INSTALL_DIR", "UV_PYTHON_CACHE_DIR"), "where uv keeps interpreters"),
    **dict.fromkeys(("UV_PYTHON_INSTALL_MIRROR", "UV_PYPY_INSTALL_MIRROR"), "where uv gets interpreters"),
    **dict.fromkeys(("UV_PYTHON_DOWNLOADS_JSON_URL", "UV_GITHUB_TOKEN"), "where uv gets interpreters"),
}
"""Each variable that uv and its builds get from the caller, with why."""
PASSED_PREFIXES = {
    "LC_": "the language of messages",
    "XDG_": "where git, keyring and uv keep their files",
    "SSH_": "access to git servers",
    "GIT_": "access to git servers",
}
PASSED_PATTERN = ("UV_INDEX_", ("_USERNAME", "_PASSWORD"))
"""Credentials of named indexes."""
_NOT_PASSED = frozenset(
    {
        # a git hook's variables: git in a build would work on the caller's repository
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"),
        *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES"),
    }
)


def is_passed(name: str) -> bool:
    """Tell whether a variable of the caller's reaches uv."""
    start, ends = PASSED_PATTERN
    return (
        name in PASSED
        or (name.startswith(tuple(PASSED_PREFIXES)) and name not in _NOT_PASSED)
        or (name.startswith(start) and name.endswith(ends))
    )
