"""From a private directory with everything installed to a ready environment: the record comes last."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.errors import BuildFailed, ClashError, CompileFailed, ProofFailed
from greenroom.store import adopting, bytecode, finishing, links, machine, moving, proof, records, repair
from greenroom.store.bytecode import Compiled
from greenroom.store.links import Shared
from greenroom.store.model import SCHEMA, Record
from greenroom.store.unowned import unowned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from greenroom.components import Pairs
    from greenroom.interpreters.model import Interpreter
    from greenroom.recipes.model import Recipe
    from greenroom.store.layout import Store
    from greenroom.store.model import Finding
    from greenroom.store.proof import Proof
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
    wheels: Pairs = ()
    """Distribution -> sha256 of its wheel, for what is no wheel of an index: built or late ones."""
    pending: tuple[str, ...] = ()
    """Distributions that a later stage brings: the environment stays partial while there are any."""
    metadata: Pairs = ()
    """Editable's name -> digest of its metadata files, which are not in the key."""


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
    resumed: Collection[str] | None = None,
    flush: bool = True,
    on_phase: Callable[[str], None] | None = None,
    on_moved: Callable[[str], None] | None = None,
) -> Committed:
    """Link, move, prove, compile, normalize, flush, and write the record, under the key's lock.

    :param private: the directory in which everything was installed, ``store.building/<key>.<random>``
        (or the final path itself, when a partial environment was continued there).
    :param before: the findings of the failed proof before this one, after the distributions at
        fault were fetched anew (from the index, not from a cache).
    :param jobs: processes that compile at once; None: one for each processor.
    :param replace: an environment with a record stands there and is to be exchanged (repair).
    :param force: replace it even while something runs from it.
    :param resumed: distributions that were added to a partial environment at its final path: only
        theirs is linked and compiled, and nothing is removed when they cannot be trusted.
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
    say = on_phase or _ignore
    shared = links.share(store, private, build.recipe, dict(build.wheels), only=resumed)
    if replace:
        root = repair.put_in_place(store, private, build.key, force=force)
    else:
        root = moving.into_place(store, private, build.key)
    try:
        if on_moved is not None:
            _let_change(root, build.recipe, on_moved)
        say("prove")
        proven = proof.prove(
            root,
            build.recipe,
            group=group,
            private=private if private != root else None,
            pending=build.pending,
            before=before,
            sources=build.recipe.bytecode,
        )
        compiled = Compiled()
        if build.recipe.bytecode:
            say("compile")
            compiled = bytecode.compile_into(
                store,
                root,
                build.interpreter,
                [source for source in proven.sources if resumed is None or source[2] in resumed],
                group=group,
                jobs=jobs,
                shipped=proven.shipped,
            )
    except (ProofFailed, ClashError, CompileFailed, BuildFailed):
        if resumed is None:
            moving.discard(store, root)  # what cannot be trusted is not continued either
        raise
    return _finish(store, root, build, proven, shared, compiled, flush=flush)


def _finish(  # noqa: PLR0913 - the steps' results
    store: Store,
    root: str,
    build: Build,
    proven: Proof,
    shared: Shared,
    compiled: Compiled,
    *,
    flush: bool,
) -> Committed:
    if not shared.copied and not shared.linked:  # uv linked, nothing was counted
        shared = Shared(linked=sum(item.files for item in proven.installed))
    record = _record(root, build, proven, shared)
    # Also of a partial one: a mode that a later image layer changed would stand there once more.
    finishing.normalize(root, files=proven.irregular or bool(build.recipe.post_install))
    if flush:
        finishing.flush(root)
    if build.pending:
        records.write_partial(store, record)
    else:
        records.write(store, record)
        records.forget_partial(store, build.key)
        finishing.close(root)
    return Committed(path=root, record=record, shared=shared, compiled=compiled)


def _let_change(root: str, recipe: Recipe, on_moved: Callable[[str], None]) -> None:
    if not recipe.post_install:
        on_moved(root)
        return
    memory = adopting.prepare(root)
    on_moved(root)
    adopting.adopt(root, memory)


def _record(root: str, build: Build, proven: Proof, shared: Shared) -> Record:
    recipe = build.recipe
    return Record(
        schema=SCHEMA,
        key=build.key,
        recipe=recipe,
        installed=proof.with_wheels(proven.installed, dict(build.wheels)),
        clashes=proven.clashes,
        base=(build.interpreter.path, *build.interpreter.stat),
        built_at=time.time(),
        seconds=round(time.monotonic() - build.began, 3),
        host=machine.this_host(),
        uv=build.uv,
        greenroom=_version(),
        log=build.log,
        linked=shared.linked,
        copied=shared.copied,
        smoke=build.smoke,
        machine=machine.this_machine(),
        libc=proven.libc,
        faults=proven.faults,
        added=unowned(root) if recipe.post_install and not build.pending else (),
        pending=build.pending,
        metadata=build.metadata,
    )


def _version() -> str:
    from greenroom import __version__  # noqa: PLC0415 - the package's root is above its parts

    return __version__


def _ignore(phase: str) -> None:
    """Do nothing with a phase."""
