"""Run an environment's base interpreter to compile sources into the store's cache of bytecode."""

from __future__ import annotations

import json
import os
import tempfile
from threading import Thread

from greenroom.errors import CompileFailed, ProofFailed, StoreFailed
from greenroom.store.model import Finding
from greenroom.store.starting import plain_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from greenroom.interpreters.model import Interpreter
    from greenroom.store.contents import Source
    from greenroom.uv.process import Group

__all__ = ["bad", "cached", "run"]

_BATCH = 200_000
"""Bytes of source: some tenths of a second of work, so that all processors end together."""
_EACH = 1000
"""Opening and writing a file cost something too."""
_BATCHES = 15_000
"""Numbers of four bytes that fit into a pipe at once (64 KiB)."""


def cached(cache: str, digest: str) -> str:
    """Return the path of a source's compiled file."""
    return f"{cache}/{digest[:2]}/{digest}.pyc"


def bad(cache: str, digest: str) -> str:
    """Return the path of the empty file that says that a source is no Python for this interpreter."""
    return f"{cache}/{digest[:2]}/{digest}.bad"


def run(  # noqa: PLR0913 - what it works on, the rest by name
    root: str,
    cache: str,
    sources: Sequence[Source],
    interpreter: Interpreter,
    *,
    group: Group,
    jobs: int | None,
    scratch: str,
) -> int:
    """Compile every source once, however often it stands there, and return how many were new.

    :param scratch: where the list of jobs stands meanwhile, named so that the key's next build removes
        what a kill leaves: ``store.building``.
    :raises ProofFailed: a source is not what its digest says.
    :raises CompileFailed: a compiler ended before its work.
    :raises StoreFailed: the disk refuses.
    :raises GroupEnded: the run was ended meanwhile.
    """
    unique = {digest: path for path, digest, _ in reversed(sources)}
    batches = _batches(root, unique)
    key = os.path.basename(root).partition(".")[0]
    with tempfile.TemporaryDirectory(prefix=f"{key}.", dir=scratch) as directory:
        plan = os.path.join(directory, "jobs.json")
        with open(plan, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(batches, file)
        count = max(1, min(jobs or _processors(), len(batches)))
        numbers = _filled_pipe(len(batches))
        try:
            workers = [_Worker(interpreter, (plan, cache), numbers, group) for _ in range(count)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            os.close(numbers)
    owners = {f"{root}/{path}": (path, name) for path, _, name in sources}
    return sum(_result(workers, root, cache, owners, interpreter))


class _Worker(Thread):
    """One compiler process and the lines that it says."""

    def __init__(self, interpreter: Interpreter, paths: tuple[str, str], numbers: int, group: Group) -> None:
        super().__init__(name="compile", daemon=True)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_worker.py")
        options = ("-I", "-S", "-W", "ignore")
        self._arguments = (interpreter.path, *options, script, *paths, str(numbers))
        self._numbers, self._group = numbers, group
        self.lines: list[str] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run it to its end."""
        try:
            self._group.run(
                self._arguments,
                cwd="/",
                env=plain_variables(os.environ),
                pass_fds=(self._numbers,),
                on_line=self.lines.append,
            )
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self.error = error


def _result(
    workers: Iterable[_Worker],
    root: str,
    cache: str,
    owners: dict[str, tuple[str, str]],
    interpreter: Interpreter,
) -> list[int]:
    findings, counts = [], []
    for worker in workers:
        if worker.error is not None:
            raise worker.error
        said = [_parsed(line) for line in worker.lines]
        for line in said:
            number = line.get("errno")
            if isinstance(number, int):
                place = str(line.get("path") or cache)
                raise StoreFailed.of("compile bytecode", place, OSError(number, os.strerror(number)))
        findings += [_finding(line, owners) for line in said if "found" in line]
        count = said[-1].get("compiled") if said else None
        if not isinstance(count, int):
            last = next((line for line in reversed(worker.lines) if line.strip()), "it ended without a word")
            raise CompileFailed(interpreter.path, last)
        counts.append(count)
    if findings:
        raise ProofFailed(root, findings)
    return counts


def _finding(line: dict[str, object], owners: dict[str, tuple[str, str]]) -> Finding:
    path, name = owners.get(str(line["path"]), (str(line["path"]), None))
    found, size = line["found"], line["size"]
    return Finding(
        kind="edited" if found else "missing",
        distribution=name,
        path=path,
        message="its content is not what RECORD says" if found else "cannot be read",
        size=size if isinstance(size, int) else None,
        sha256=str(found) if found else None,
    )


def _parsed(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _batches(root: str, unique: dict[str, str]) -> list[list[tuple[str, str]]]:
    """Return the work in pieces of about equal size, large files first."""
    sized = sorted(
        ((_size(f"{root}/{path}"), digest, f"{root}/{path}") for digest, path in unique.items()), reverse=True
    )
    limit = max(_BATCH, sum(size + _EACH for size, _, _ in sized) // _BATCHES)
    batches: list[list[tuple[str, str]]] = []
    room = 0
    for size, digest, path in sized:
        if room <= 0:
            batches.append([])
            room = limit
        batches[-1].append((digest, path))
        room -= size + _EACH
    return batches


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _filled_pipe(count: int) -> int:
    """Return the reading end of a pipe that holds the numbers below ``count``; nobody writes to it."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"".join(number.to_bytes(4, "little") for number in range(count)))
    finally:
        os.close(writing)
    return reading


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
