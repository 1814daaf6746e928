"""Prove that an environment holds what its recipe says, before it counts as ready.

uv writes a package's metadata before its payload, so an install that was killed looks complete to
every check of uv's own. Here every row of every RECORD is looked at, the set of distributions is
compared with the recipe's, and the environment's interpreter and one console script are started.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from greenroom.recipes.model import Recipe
    from greenroom.store.model import Clash, Fault, Finding, Installed
    from greenroom.uv.process import Group

__all__ = ["Proof", "prove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was proven, and what later steps need of it."""

    installed: tuple[Installed, ...]
    clashes: tuple[Clash, ...] = ()
    """Files that several distributions bring differently, each with the winner that stands there."""
    faults: tuple[Fault, ...] = ()
    """Rows that a fresh download contradicts in the same way: the packages' fault."""
    sources: tuple[tuple[str, str], ...] = ()
    """Python files of ``site-packages``, relative to the root, with their sha256 (hexadecimal; empty
    where no single RECORD says it)."""
    libc: str = ""
    """The lowest glibc that the binaries need, by their wheels' tags; empty: any."""


def prove(
    root: str,
    recipe: Recipe,
    *,
    group: Group,
    private: str | None = None,
    pending: Collection[str] = (),
    before: Sequence[Finding] = (),
    deep: bool = False,
    start: bool = True,
) -> Proof:
    """Prove an environment at its final path.

    :param root: the environment's directory, absolute.
    :param group: the processes' group in which its interpreter is started.
    :param private: the name under which it was built; no text in it may hold that.
    :param pending: distributions that may be absent: a partial environment's late ones.
    :param before: the findings of the proof before this one, when the distributions at fault were
        fetched and installed anew meanwhile: what differs again in the same way is the package's
        own fault and no damage.
    :param deep: compare digests too, not sizes alone.
    :param start: start the interpreter and a console script.
    :raises ProofFailed: it differs; the error names the distributions at fault.
    :raises ClashError: distributions bring different files for one path and no winner is named.
    :raises StoreFailed: the environment cannot be read.
    """
    raise NotImplementedError
