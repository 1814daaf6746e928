"""Make a server's environment ready, and put its alias where callers look for it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from greenroom.builder.events import Failed, Locked, Note, Output, Phase, Ready, Started, Waiting
from greenroom.errors import Problems, StoreFailed
from greenroom.project import answering, facade
from greenroom.store import alias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from greenroom.adapters.nemo_gym.wanted import Wanted
    from greenroom.builder.events import Event

__all__ = ["prepare", "ready"]


def ready(wanted: Wanted, environ: Mapping[str, str]) -> str | None:
    """Return the environment's directory when nothing is to be done, without writing or starting anything."""
    if _text(wanted.file) != wanted.declaration():
        return None
    memory = answering.memory(wanted.file, environ)
    answer = None if memory is None else memory.answer(wanted.name)
    if answer is None or answer.state != "ready" or answer.environment is None:
        return None
    return answer.environment if alias.target(wanted.alias) == answer.environment else None


def prepare(wanted: Wanted, environ: Mapping[str, str], say: Callable[[str], None]) -> str:
    """Lock, build and prove what is missing, and move the alias there.

    :param say: told what happens, a line at a time.
    :returns: the environment's directory.
    :raises Problems: it cannot be made.
    :raises StoreFailed: the operating system refuses.
    """
    done = ready(wanted, environ)
    if done is not None:
        return done
    _declare(wanted)
    project = facade.load(wanted.file, environ=environ)
    report = project.try_sync(on_event=lambda event: _tell(event, say, verbose=wanted.verbose))
    problems = [problem.error for problem in (*report.failed, *report.problems)]
    if problems:
        raise Problems(problems)
    path = project.environment(wanted.name).path or ""
    if alias.target(wanted.alias) != path:
        _clear(wanted.alias, say)
        alias.write_at(wanted.alias, path, keep_pythonpath=True)
    return path


def _declare(wanted: Wanted) -> None:
    """Write the declaration, whole or not at all, in a folder that git leaves alone."""
    text = wanted.declaration()
    if _text(wanted.file) == text:
        return
    folder = os.path.dirname(wanted.file)
    private = f"{wanted.file}.{os.getpid()}"
    try:
        os.makedirs(folder, exist_ok=True)
        for path, content in ((os.path.join(folder, ".gitignore"), "*\n"), (private, text)):
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(content)
        os.replace(private, wanted.file)
    except OSError as error:
        with suppress(OSError):
            os.unlink(private)
        raise StoreFailed.of("write the server's declaration", wanted.file, error) from error


def _clear(path: str, say: Callable[[str], None]) -> None:
    """Move aside what stands in the alias's place: an environment that was made before, for example."""
    if not os.path.lexists(path) or alias.target(path) is not None:
        return
    aside, number = f"{path}.before-greenroom", 1
    while os.path.lexists(aside):
        aside, number = f"{path}.before-greenroom-{number}", number + 1
    try:
        os.rename(path, aside)
    except OSError as error:
        raise StoreFailed.of("move aside what stands there", path, error) from error
    say(f"note: {path} was not greenroom's and is now {aside}")


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return None


def _tell(event: Event, say: Callable[[str], None], *, verbose: bool) -> None:
    words = _words(event, verbose=verbose)
    if words:
        say(words)


def _words(event: Event, *, verbose: bool) -> str | None:  # noqa: PLR0911 - one for each kind
    match event:
        case Output(line=line):
            return line if verbose else None
        case Phase(phase=phase, detail=detail):
            return f"{phase} {detail}".rstrip() if verbose else None
        case Note(text=text):
            return f"note: {text}"
        case Locked(error=None, seconds=seconds):
            return f"locked in {seconds:.1f} s"
        case Waiting(what=what, holder=holder):
            return f"waiting for {what}, held by {holder}"
        case Started():
            return "building"
        case Ready(built=built, seconds=seconds):
            return f"ready, built in {seconds:.1f} s" if built else "ready, built by another process"
        case Failed():
            return "failed"
    return None
