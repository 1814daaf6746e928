"""Keep each file once: link an environment's files to those of another one that has them already.

uv links from its cache and nowhere else; where the cache is on another device (a container's cache
mount, a second disk) it copies. Then equal files of the store's own environments are linked.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from stat import S_IMODE, S_ISREG

from greenroom.errors import RecordUnreadable, StoreFailed
from greenroom.recipes.model import Wheel
from greenroom.store import layout, linking, machine, records, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from greenroom.recipes.model import Recipe
    from greenroom.store.layout import Store
    from greenroom.store.rows import Found, Row

__all__ = ["Shared", "share"]

_LARGE_ENOUGH = 1
"""Bytes: an empty file has nothing to share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """How the files of an environment came to stand there."""

    linked: int = 0
    """Files that stand elsewhere too: they cost no space."""
    copied: int = 0
    """Files of its own."""
    size: int = 0
    """Bytes of the copied files."""


def share(
    store: Store,
    root: str,
    recipe: Recipe,
    wheels: Mapping[str, str] | None = None,
    *,
    only: Collection[str] | None = None,
    thorough: bool = False,
) -> Shared:
    """Replace copied files by links to another proven environment with the same distributions.

    A distribution is the same when name, version and the wheel's sha256 are; a file when RECORD's
    digest, size and mode are. What cannot be linked stays a copy. Where uv linked, nothing is looked
    at beyond a sample.

    :param root: the environment's directory (under its private name), absolute.
    :param wheels: name -> sha256 of the wheels that were built here.
    :param only: of these distributions: what an earlier image layer brought must not be touched.
    :param thorough: look at all files, also where a sample says that uv linked.
    :returns: counts over the distributions' files; zeros where uv linked.
    :raises StoreFailed: the operating system refuses a step.
    """
    if not (thorough or _copied(root, only)):
        return Shared()
    found, _ = rows.distributions(root)
    found = tuple(item for item in found if only is None or item.name in only)
    digests = {
        item.name: item.content.sha256 for item in recipe.distributions if isinstance(item.content, Wheel)
    }
    digests |= wheels or {}
    donors = _donors(
        store, {(item.name, item.version, digests[item.name]) for item in found if item.name in digests}
    )
    sharing = _Sharing(root)
    try:
        for item in found:
            donor = donors.get((item.name, item.version, digests.get(item.name, "")))
            if donor is not None and donor[0] == root:
                continue
            sharing.share(item, *(donor or ("", {})))
    except OSError as error:
        raise StoreFailed.of("link files", error.filename or root, error) from error
    return Shared(linked=sharing.linked, copied=sharing.copied, size=sharing.size)


class _Sharing:
    """Replaces files of one environment one by one."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.linked = self.copied = self.size = 0

    def share(self, item: Found, donor: str, theirs: Mapping[str, Row]) -> None:
        """Link the files of one distribution to its donor's."""
        for path, digest, size in item.rows:
            target = f"{self._root}/{path}"
            try:
                status = os.lstat(target)
            except OSError:
                continue  # the proof says it
            if status.st_nlink > 1:
                self.linked += 1
            elif digest and size >= _LARGE_ENOUGH and theirs.get(path) == (path, digest, size):
                self._replace(f"{donor}/{path}", target, status)
            else:
                self._keep(status)

    def _replace(self, source: str, target: str, status: os.stat_result) -> None:
        temporary = f"{target}.{token_hex(6)}"
        try:
            other = os.lstat(source)
            same = S_ISREG(other.st_mode) and other.st_size == status.st_size
            if same and S_IMODE(other.st_mode) | 0o444 == S_IMODE(status.st_mode) | 0o444:
                os.link(source, temporary, follow_symlinks=False)
                os.rename(temporary, target)
                self.linked += 1
                return
        except FileNotFoundError:  # collected meanwhile
            pass
        except OSError as error:
            if not linking.cannot_link(error):
                raise
        self._keep(status)

    def _keep(self, status: os.stat_result) -> None:
        self.copied += 1
        self.size += status.st_size


def _copied(root: str, only: Collection[str] | None) -> bool:
    """Tell whether uv copied: most METADATA files, which no install writes anew, have one link then."""
    alone = total = 0
    site = f"{root}/{rows.site_packages(root)}"
    try:
        entries = os.listdir(site)
    except OSError as error:
        raise StoreFailed.of("read the environment", site, error) from error
    for entry in entries:
        name = rows.normalized(entry.partition("-")[0])
        if entry.endswith(".dist-info") and (only is None or name in only):
            with suppress(OSError):
                alone += os.lstat(f"{site}/{entry}/METADATA").st_nlink == 1
                total += 1
    return alone * 2 > total


def _donors(
    store: Store, wanted: set[tuple[str, str, str]]
) -> dict[tuple[str, str, str], tuple[str, dict[str, Row]]]:
    """Return for each distribution a proven environment that holds it, with its rows there."""
    donors: dict[tuple[str, str, str], tuple[str, dict[str, Row]]] = {}
    for key, identities in _proven(store):
        useful = wanted & identities - donors.keys()
        if useful:
            root = store.environment(key)
            there, _ = rows.distributions(root)
            by_name = {item.name: {row[0]: row for row in item.rows} for item in there}
            donors |= {one: (root, by_name[one[0]]) for one in useful if one[0] in by_name}
    return donors


def _proven(store: Store) -> Iterator[tuple[str, set[tuple[str, str, str]]]]:
    for key in layout.keys(store):
        try:
            record = records.read(store, key) or records.read_partial(store, key)
        except RecordUnreadable:
            continue
        if record is not None and not machine.foreign(record):
            yield key, {(item.name, item.version, item.wheel) for item in record.installed if item.wheel}
