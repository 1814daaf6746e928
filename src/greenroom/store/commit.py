"""From a private directory with everything installed to a ready environment: the record comes last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from greenroom.interpreters.model import Interpreter
    from greenroom.recipes.model import Recipe
    from greenroom.store.bytecode import Compiled
    from greenroom.store.layout import Store
    from greenroom.store.links import Shared
    from greenroom.store.model import Finding, Record
    from greenroom.uv.process import Group

__all__ = ["Build", "Committed", "commit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What the builder knows of an environment that it installed."""

    key: str
    recipe: Recipe
    interpreter: Interpreter
    began: float
    """``time.monotonic()`` when the build began."""
    uv: str
    """uv's version."""
    log: str
    """File name of the build's log in ``store.logs``."""
    smoke: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    """Distributions that a later stage brings: the environment stays partial while there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A ready (or, with pending distributions, partial) environment, and what it cost."""

    path: str
    record: Record
    shared: Shared
    compiled: Compiled


def commit(  # noqa: PLR0913 - all but three by name
    store: Store,
    private: str,
    build: Build,
    *,
    group: Group,
    before: Sequence[Finding] = (),
    jobs: int | None = None,
    replace: bool = False,
    force: bool = False,
    flush: bool = True,
    on_phase: Callable[[str], None] | None = None,
    on_moved: Callable[[str], None] | None = None,
) -> Committed:
    """Link, move, prove, compile, normalize, flush, and write the record, under the key's lock.

    :param private: the directory in which everything was installed, ``store.building/<key>.<random>``
        (or the final path itself, when a partial environment was continued there).
    :param before: the findings of the failed proof before this one, after the distributions at
        fault were fetched anew.
    :param jobs: processes that compile at once; None: one for each processor.
    :param replace: an environment with a record stands there and is to be exchanged (repair).
    :param force: replace it even while something runs from it.
    :param flush: False skips the flush to disk (image builds).
    :param on_phase: called with ``prove`` and ``compile`` as they begin.
    :param on_moved: called with the final path after the move and before the proof: ``post-install``
        commands run there; when it raises, nothing of the attempt remains.
    :raises ProofFailed: nothing of the attempt remains; ``distributions`` are to be fetched anew.
    :raises ClashError: likewise; no winner is named.
    :raises CompileFailed: likewise.
    :raises EnvironmentInUse: it was to be replaced, and something runs from it.
    :raises StoreFailed: the operating system refuses a step.
    """
    raise NotImplementedError
