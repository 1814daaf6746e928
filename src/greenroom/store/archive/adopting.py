"""Give an unpacked environment's bytecode to the store, where the next environment finds it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from greenroom.errors import StoreFailed
from greenroom.store import compiling, linking, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.interpreters.model import Interpreter
    from greenroom.store.contents import Source
    from greenroom.store.layout import Store

__all__ = ["adopt"]


def adopt(
    store: Store, root: str, interpreter: Interpreter, sources: Iterable[Source], compiled: Iterable[str]
) -> None:
    """Link compiled files with the store's, as those of a build are: what it has already is taken from it.

    To be called under the key's lock, before the environment's folders become read-only.

    :param root: the environment's directory, absolute.
    :param sources: what the proof returned.
    :param compiled: the files that an interpreter would take without looking at the source.
    :raises StoreFailed: the operating system refuses a step.
    """
    cache = f"{store.bytecode}/{interpreter.cache_tag}-{interpreter.magic}"
    ending = f".{interpreter.cache_tag}.pyc"
    wanted = set(compiled)
    try:
        for path, digest, _ in sources:
            folder, _, name = path.rpartition("/")
            place = f"{folder}/__pycache__/{name[:-3]}{ending}"
            if place in wanted:
                _share(
                    f"{root}/{place}", compiling.cached(cache, digest or rows.file_digest(f"{root}/{path}"))
                )
    except OSError as error:
        raise StoreFailed.of("link bytecode", error.filename or root, error) from error


def _share(place: str, cached: str) -> None:
    try:
        os.link(place, cached)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(cached), exist_ok=True)
        with suppress(FileExistsError):
            os.link(place, cached)
    except FileExistsError:
        _take(place, cached)
    except OSError as error:
        if not linking.cannot_link(error):
            raise


def _take(place: str, cached: str) -> None:
    """Replace a compiled file by the store's own for the same source."""
    temporary = f"{place}.new"
    try:
        os.link(cached, temporary)
    except OSError as error:
        if not linking.cannot_link(error):
            raise
        linking.copy_beside(cached, place)
        return
    os.rename(temporary, place)
