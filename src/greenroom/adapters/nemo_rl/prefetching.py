"""Make every actor's environment ready beforehand, in an image or on a node."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from secrets import token_hex
from shlex import quote
from typing import TYPE_CHECKING

from greenroom.adapters.nemo_rl import building, executables
from greenroom.errors import GreenroomError, Problems, StoreFailed, WrapperClash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Prefetched", "prefetch_venvs"]

WRAPPERS = "/usr/local/bin"
"""Where ``python-<ClassName>`` goes in an image; ``GREENROOM_WRAPPERS`` names another directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefetched:
    """What became of each registered actor."""

    made: tuple[tuple[str, str], ...]
    """Actor -> its interpreter."""
    driver: tuple[str, ...]
    """Those on an interpreter that is there already."""
    filtered: tuple[str, ...]
    failed: tuple[tuple[str, GreenroomError], ...]

    def lines(self) -> tuple[str, ...]:
        """Return one line for each actor, and the numbers."""
        rows = [f"made      {name}  {path}" for name, path in self.made]
        rows += [f"driver    {name}" for name in self.driver]
        rows += [f"filtered  {name}" for name in self.filtered]
        rows += [f"failed    {name}  {error}" for name, error in self.failed]
        counts = {"made": self.made, "driver": self.driver, "filtered": self.filtered, "failed": self.failed}
        return (*rows, ", ".join(f"{len(found)} {word}" for word, found in counts.items()))


def prefetch_venvs(
    filters: Sequence[str] | None = None, negative_filters: Sequence[str] | None = None
) -> Prefetched:
    """Make the environments of the registered actors ready, each content once, and print a summary.

    With ``NRL_CONTAINER=1`` each actor with an environment also gets an executable ``python-<ClassName>``.

    :param filters: parts of names; only actors with one of them. None: all.
    :param negative_filters: parts of names; no actor with one of them.
    :raises Problems: some environment could not be made; the others are, and the summary was printed.
    :raises WrapperClash: two actors of one class name have different environments.
    """
    from greenroom.adapters import nemo_rl  # noqa: PLC0415 - the registry that users assign to

    driver, filtered, wanted = [], [], {}
    for name, py_executable in nemo_rl.ACTOR_ENVIRONMENT_REGISTRY.items():
        if not _passes(name, filters, negative_filters):
            filtered.append(name)
        elif executables.is_uv(py_executable):
            wanted[name] = py_executable
        else:
            driver.append(name)
    results = building.make(building.planned(wanted)) if wanted else {}
    made = {name: path for name, path in results.items() if isinstance(path, str)}
    failed = [(name, error) for name, error in results.items() if isinstance(error, GreenroomError)]
    summary = Prefetched(
        made=tuple(made.items()), driver=tuple(driver), filtered=tuple(filtered), failed=tuple(failed)
    )
    sys.stdout.write("\n".join(summary.lines()) + "\n")
    if os.environ.get("NRL_CONTAINER") == "1":
        _write_wrappers(made.items(), os.environ.get("GREENROOM_WRAPPERS") or WRAPPERS)
    if failed:
        raise Problems(dict.fromkeys(error for _, error in failed))
    return summary


def _passes(name: str, filters: Sequence[str] | None, negative: Sequence[str] | None) -> bool:
    wanted = not filters or any(part in name for part in filters)
    return wanted and not any(part in name for part in negative or ())


def _write_wrappers(made: Iterable[tuple[str, str]], directory: str) -> None:
    chosen: dict[str, tuple[str, str]] = {}
    for name, interpreter in made:
        wrapper = f"python-{name.rpartition('.')[2]}"
        first = chosen.setdefault(wrapper, (name, interpreter))
        if first[1] != interpreter:
            raise WrapperClash(wrapper, first[0], name)
    for wrapper, (_, interpreter) in chosen.items():
        _write(f"{directory}/{wrapper}", f'#!/bin/sh\nexec {quote(interpreter)} "$@"\n')


def _write(path: str, text: str) -> None:
    temporary = f"{path}.{token_hex(6)}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o755)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreFailed.of("write the wrapper", path, error) from error
