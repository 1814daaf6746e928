"""Digest local sources: the whole tree of one that is copied, the metadata of one that is edited in place.

No process is started (asking git would be one): what versions, caches and builds leave behind is
left out by name.
"""

from __future__ import annotations

import os
import stat as modes
from hashlib import sha256

from greenroom.locks import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from greenroom.components import Pairs

__all__ = ["changes", "file_digest", "metadata_digest", "metadata_files", "tree_digest", "tree_files"]

_SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        ".venv",
        ".eggs",
        ".idea",
        ".vscode",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".DS_Store",
        "__pycache__",
    }
)
_SKIPPED_ON_TOP = frozenset({"build", "dist", "venv", "env", "greenroom.lock", "uv.lock"})
"""Left out at the top only: a package may have a module of such a name."""
_ENDINGS = (".pyc", ".pyo", ".egg-info", ".dist-info", ".swp", "~")
_FOREIGN = ("pyvenv.cfg", "CACHEDIR.TAG")
"""A folder that holds one of them is an environment or a cache, not source."""
_METADATA = ("pyproject.toml", "setup.py", "setup.cfg")
_contents: dict[str, tuple[tuple[int, int, int, int], bytes]] = {}


def tree_digest(directory: str) -> str:
    """Return the sha256 (hexadecimal) of a source tree: paths, contents, executable bits, links.

    Times, owners and other mode bits do not count. An absent directory gives the empty text.
    """
    if not os.path.isdir(directory):
        return ""
    total = sha256()
    for path in sorted(_files(directory)):
        relative = os.fsencode(os.path.relpath(path, directory))
        try:
            total.update(b"%d:%s;" % (len(relative), relative) + _content(path))
        except FileNotFoundError:
            continue  # an editor's temporary file that is gone again
    return total.hexdigest()


def tree_files(directory: str) -> tuple[str, ...]:
    """Return the folders and files whose stat decides :func:`tree_digest`."""
    files = tuple(sorted(_files(directory))) if os.path.isdir(directory) else ()
    folders = {directory}
    for path in files:
        folder = os.path.dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return (*sorted(folders), *files)


def file_digest(path: str) -> str:
    """Return the sha256 (hexadecimal) of a file; an absent one gives the empty text."""
    try:
        return _content(os.path.realpath(path))[1:].hex()
    except OSError:
        return ""


def metadata_digest(directory: str) -> str:
    """Return the sha256 (hexadecimal) of the files that decide an editable's metadata.

    These are ``pyproject.toml``, ``setup.py``, ``setup.cfg`` and the files of ``[tool.uv]
    cache-keys``. An absent directory gives the empty text.
    """
    if not os.path.isdir(directory):
        return ""
    total = sha256()
    for path in metadata_files(directory):
        try:
            content = _content(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        total.update(os.fsencode(os.path.relpath(path, directory)) + b";" + content)
    return total.hexdigest()


def metadata_files(directory: str) -> tuple[str, ...]:
    """Return the files whose stat decides :func:`metadata_digest`, absent ones included."""
    names = set(_METADATA)
    uv = settings.section(settings.table(os.path.join(directory, "pyproject.toml")), "tool", "uv")
    for cache_key in uv.get("cache-keys", ()):
        pattern = cache_key.get("file") if isinstance(cache_key, dict) else cache_key
        if isinstance(pattern, str):
            names.update(_matching(directory, pattern))
    return tuple(os.path.join(directory, name) for name in sorted(names))


def changes(recorded: Pairs, now: Pairs) -> tuple[str, ...]:
    """Return in words which editables have other metadata than their environment was built from.

    A source that is absent now, or was absent then, says nothing.
    """
    then = dict(recorded)
    return tuple(
        f"the metadata of {name} changed (entry points, build system or version)"
        for name, digest in now
        if digest and then.get(name) and then[name] != digest
    )


def _matching(directory: str, pattern: str) -> Iterable[str]:
    if not any(sign in pattern for sign in "*?["):
        return (pattern,)
    from glob import glob  # noqa: PLC0415 - only for patterns

    return glob(pattern, root_dir=directory, recursive=True)


def _files(directory: str, *, top: bool = True) -> Iterator[str]:
    with os.scandir(directory) as entries:
        found = list(entries)
    if not top and any(entry.name in _FOREIGN for entry in found):
        return
    for entry in found:
        name = entry.name
        if name in _SKIPPED or name.endswith(_ENDINGS) or (top and name in _SKIPPED_ON_TOP):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path, top=False)
        else:
            yield entry.path


def _content(path: str) -> bytes:
    """Return what counts of a file, remembered by its stat: a link's target, else mode and digest."""
    stat = os.lstat(path)
    if modes.S_ISLNK(stat.st_mode):
        target = os.fsencode(os.readlink(path))
        return b"l%d:%s" % (len(target), target)
    if not modes.S_ISREG(stat.st_mode):
        return b"?"  # a socket or pipe: nothing that a build reads
    seen = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_mode)
    known = _contents.get(path)
    if known is None or known[0] != seen:
        with open(path, "rb") as file:
            known = (seen, sha256(file.read()).digest())
        _contents[path] = known
    return (b"x" if stat.st_mode & 0o100 else b"f") + known[1]
