"""Merge a component's own uv settings into the generated configuration, for locking.

They decide versions (constraints, overrides, cut-off dates, indexes), so they are honoured and part
of the lock's inputs; what says where uv works or how it writes stays greenroom's.
https://docs.astral.sh/uv/reference/settings/
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from greenroom.uv import settings, toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from greenroom.components import Index
    from greenroom.uv.settings import Transport

__all__ = ["merged"]

_OURS = frozenset(
    {
        # where and how uv works
        *("cache-dir", "no-cache", "offline", "preview", "preview-features", "link-mode", "compile-bytecode"),
        *("python-preference", "python-downloads", "concurrent-downloads", "concurrent-builds"),
        *("concurrent-installs", "reinstall", "reinstall-package", "upgrade", "upgrade-package"),
        # a project's, which uv.toml refuses
        *("sources", "workspace", "conflicts", "default-groups", "dependency-groups", "dev-dependencies"),
        *("environments", "required-environments", "managed", "package", "cache-keys", "build-backend"),
    }
)
_OURS_OF_PIP = _OURS | {
    *("python", "system", "break-system-packages", "target", "prefix", "strict", "output-file"),
    *("python-platform", "python-version", "universal", "generate-hashes", "no-header", "no-annotate"),
    *("no-strip-extras", "no-strip-markers", "custom-compile-command", "annotation-style", "no-deps"),
    *("emit-index-url", "emit-find-links", "emit-build-options", "emit-marker-expression"),
    *("emit-index-annotation", "all-extras", "extra", "group", "no-extra", "no-emit-package"),
}


def merged(
    transport: Transport, indexes: tuple[Index, ...], own: Mapping[str, Any] | None, directory: str
) -> str:
    """Return the text of the ``uv.toml`` for locking.

    :param own: the component's table of uv settings; its values win, its indexes come first.
    :param directory: what relative paths in it are relative to.
    """
    if not own:
        return settings.config_text(transport, indexes)
    kept = {name: _absolute(name, value, directory) for name, value in own.items() if name not in _OURS}
    pip = kept.pop("pip", {})
    if isinstance(pip, dict):
        pip = {
            name: _absolute(name, value, directory) for name, value in pip.items() if name not in _OURS_OF_PIP
        }
    entries = tuple(_entries(kept.pop("index", []), directory))
    theirs = type(transport)(values=transport.values, indexes=entries + transport.indexes)
    more = {name.replace("-", "_"): value for name, value in kept.items()}
    return settings.config_text(theirs, indexes, None, **more, pip=pip or None)


def _entries(found: object, directory: str) -> Iterator[tuple[tuple[str, str], ...]]:
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict):
            url = _path_or_url(entry.get("url"), directory)
            yield tuple((name, toml.inline(value)) for name, value in (entry | {"url": url}).items())


def _absolute(name: str, value: Any, directory: str) -> Any:
    if name in {"find-links", "extra-index-url"} and isinstance(value, list):
        return [_path_or_url(item, directory) for item in value]
    return _path_or_url(value, directory) if name == "index-url" else value


def _path_or_url(value: Any, directory: str) -> Any:
    if not isinstance(value, str) or urlsplit(value).scheme:
        return value
    return os.path.normpath(os.path.join(directory, value))
