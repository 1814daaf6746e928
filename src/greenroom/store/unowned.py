"""Find files in an environment that no distribution brought."""

from __future__ import annotations

import os
import re

from greenroom.store import rows
from greenroom.store.contents import owned
from greenroom.store.model import PARTIAL, RECORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.store.rows import Found

__all__ = ["unowned"]

_OWN = frozenset((RECORD, PARTIAL, "pyvenv.cfg", ".gitignore", ".lock", "CACHEDIR.TAG", "lib64"))
_SCRIPTS = re.compile(
    r"bin/((python|pypy|graalpy)[\d.]*t?|activate(\.(bat|csh|fish|nu|ps1|xsh))?|activate_this\.py"
    r"|(deactivate|pydoc)\.bat)"
)
_SUPPORT = ("_virtualenv.py", "_virtualenv.pth")


def unowned(root: str, found: tuple[Found, ...] | None = None) -> tuple[str, ...]:
    """Return the files, relative to ``root``, that neither a RECORD nor ``uv venv`` explains.

    Bytecode of a source that somebody owns is explained, whoever compiled it.

    :param found: the environment's distributions, when they were read already.
    :raises StoreFailed: the environment has no ``site-packages``.
    """
    site = rows.site_packages(root)
    if found is None:
        found, _ = rows.distributions(root)
    known = owned(found).first.keys() | {f"{site}/{name}" for name in _SUPPORT} | _OWN
    return tuple(sorted(path for path in _files(root) if not _explained(path, known)))


def _explained(path: str, known: set[str]) -> bool:
    if path in known or _SCRIPTS.fullmatch(path):
        return True
    folder, _, name = path.rpartition("/")
    if not name.endswith(".pyc") or not folder.endswith("/__pycache__"):
        return False
    stem = re.sub(r"\.[^.]+(\.opt-[^.]+)?\.pyc$", ".py", name)
    return f"{folder.removesuffix('__pycache__')}{stem}" in known


def _files(root: str) -> Iterator[str]:
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(f"{root}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{path}/")
                else:
                    yield path
