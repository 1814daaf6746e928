"""Give an environment compiled bytecode: link what the store has, compile what is new.

Compiling takes a hundred times longer than installing, and the same sources come again in every
environment. So the store keeps one ``.pyc`` for each source (by its sha256 as found in the
environment), tag and magic number, and every environment links it. They are «unchecked»
(PEP 552): the interpreter does not look at the source, whose time stamp differs between copies.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from greenroom.errors import StoreFailed
from greenroom.store import compiling, linking
from greenroom.store.rows import file_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from greenroom.interpreters.model import Interpreter
    from greenroom.store.contents import Source
    from greenroom.store.layout import Store
    from greenroom.uv.process import Group

__all__ = ["Compiled", "compile_into"]

_FLAGS = slice(4, 8)
_UNCHECKED = b"\1\0\0\0"
_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """How an environment got its bytecode."""

    compiled: int = 0
    """Sources that the store did not know."""
    linked: int = 0
    copied: int = 0
    """Files that could not be linked."""


def compile_into(  # noqa: PLR0913 - what it works on, the rest by name
    store: Store,
    root: str,
    interpreter: Interpreter,
    sources: Iterable[Source],
    *,
    group: Group,
    jobs: int | None = None,
    shipped: Collection[str] = (),
) -> Compiled:
    """Put a ``.pyc`` beside every source that is Python. To be called under the key's lock.

    What does not compile (packages ship broken files as test data) is left out, and not tried again.

    :param root: the environment's directory, absolute.
    :param interpreter: its base interpreter, which compiles.
    :param sources: what a proof returned.
    :param group: the processes' group in which the compilers run.
    :param jobs: compilers at once; None: one for each processor.
    :param shipped: bytecode that wheels brought: it stays.
    :raises ProofFailed: a source is not what its RECORD says.
    :raises CompileFailed: a compiler ended before its work.
    :raises StoreFailed: the operating system refuses a step.
    """
    if not interpreter.cache_tag:  # an interpreter without bytecode files
        return Compiled()
    cache = f"{store.bytecode}/{interpreter.cache_tag}-{interpreter.magic}"
    ending = f".{interpreter.cache_tag}.pyc"
    compiled = 0
    try:
        os.makedirs(cache, exist_ok=True)
        linker = _Linker(root, cache, ending)
        wanted = (source for source in sources if _target(source[0], ending) not in shipped)
        missing = linker.link(_digested(root, wanted if shipped else sources))
        for _ in range(_ROUNDS):
            missing = [source for source in missing if not os.path.exists(compiling.bad(cache, source[1]))]
            if not missing:
                break
            compiled += compiling.run(
                root, cache, missing, interpreter, group=group, jobs=jobs, scratch=store.building
            )
            missing = linker.link(missing)
    except OSError as error:
        raise StoreFailed.of("link bytecode", error.filename or root, error) from error
    return Compiled(compiled=compiled, linked=linker.linked, copied=linker.copied)


class _Linker:
    """Links cached files into the ``__pycache__`` folders of one environment."""

    def __init__(self, root: str, cache: str, ending: str) -> None:
        self._root, self._cache, self._ending = root, cache, ending
        self.linked = self.copied = 0

    def link(self, sources: Iterable[Source]) -> list[Source]:
        """Link what the cache has, and return the sources that it lacks."""
        folders: dict[str, list[Source]] = {}
        for source in sources:
            folders.setdefault(source[0].rpartition("/")[0], []).append(source)
        missing: list[Source] = []
        cache = os.open(self._cache, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for folder, members in folders.items():
                missing += self._link_folder(cache, f"{self._root}/{folder}/__pycache__", members)
        finally:
            os.close(cache)
        return missing

    def _link_folder(self, cache: int, folder: str, members: list[Source]) -> list[Source]:
        with suppress(FileExistsError):
            os.mkdir(folder)
        missing = []
        here = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for source in members:
                path, digest, _ = source
                name = path[path.rfind("/") + 1 : -3] + self._ending
                try:
                    os.link(f"{digest[:2]}/{digest}.pyc", name, src_dir_fd=cache, dst_dir_fd=here)
                    self.linked += 1
                except FileNotFoundError:
                    missing.append(source)
                except OSError as error:
                    self._otherwise(source, f"{folder}/{name}", error)
        finally:
            os.close(here)
        return missing

    def _otherwise(self, source: Source, target: str, error: OSError) -> None:
        cached = compiling.cached(self._cache, source[1])
        if isinstance(error, FileExistsError):
            self._replace(cached, target)
        elif linking.full(error):  # from now on links go to a new copy
            linking.copy_beside(cached, cached)
            os.link(cached, target)
            self.linked += 1
        elif linking.cannot_link(error):
            linking.copy_beside(cached, target)
            self.copied += 1
        else:
            raise error

    def _replace(self, cached: str, target: str) -> None:
        """Exchange bytecode of an earlier stage whose source was replaced meanwhile.

        Only unchecked files: others compare themselves with their source.
        """
        if os.path.samefile(cached, target):
            return
        with open(target, "rb") as file:
            if file.read(8)[_FLAGS] != _UNCHECKED:
                return
        linking.copy_beside(cached, target)
        self.copied += 1


def _target(path: str, ending: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/__pycache__/{name[:-3]}{ending}"


def _digested(root: str, sources: Iterable[Source]) -> Iterable[Source]:
    for source in sources:
        path, digest, name = source
        if digest:
            yield source
        else:
            yield path, file_digest(f"{root}/{path}"), name
