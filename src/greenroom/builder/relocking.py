"""Lock a source that has no lock of its own: write ``greenroom.lock/pylock.<name>.toml``."""

from __future__ import annotations

import os
import shutil
import socket
import time
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from greenroom.builder import causes, lockinputs, ownconfig
from greenroom.builder.events import Note, Output, Phase
from greenroom.builder.logs import Log
from greenroom.builder.resolutions import meaning
from greenroom.errors import LockingFailed
from greenroom.locks import generated, unprovided
from greenroom.uv import binary, commands, secrets, settings
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from greenroom.builder.events import Observer
    from greenroom.builder.lockinputs import LockInputs
    from greenroom.builder.resolutions import Resolutions
    from greenroom.components import EnvironmentSpec
    from greenroom.interpreters.model import Interpreter
    from greenroom.uv.process import Outcome

__all__ = ["lock"]

_PRIVATE = ".greenroom.lock-"


def lock(  # noqa: PLR0913 - what decides a lock, and who hears of it
    spec: EnvironmentSpec,
    root: str,
    interpreter: Interpreter,
    *,
    observer: Observer,
    environ: Mapping[str, str],
    component: str = "",
    upgrade: bool = False,
    offline: bool = False,
    log_directory: str | None = None,
    group: Group | None = None,
    resolutions: Resolutions | None = None,
) -> str:
    """Resolve the requirements of ``spec`` for all platforms and write its lock.

    The file that is there stays as it is until the new one is complete; what it pins is kept as far as
    the requirements still allow, except of packages whose own lines changed.

    :param root: the declaration's directory, in which ``greenroom.lock/`` stands.
    :param interpreter: builds metadata where an index has none; its minor version is the lowest locked for.
    :param component: whom to name in an error.
    :param upgrade: forget the pins of the lock that is there.
    :param group: whose processes uv is to be among; None: a group of its own.
    :param resolutions: those of the same run, so that sources of one meaning are resolved once.
    :param log_directory: where to keep uv's output; None keeps none (an error holds its end).
    :returns: the absolute path of the lock.
    :raises LockingFailed: uv found no resolution, or could not read an input, or the disk refuses.
    :raises ExtraNotProvided: a requirement asks for an extra that its package does not have.
    :raises RequirementsUnreadable, SecretInSource, LockUnreadable: an input is at fault.
    :raises UvMissing, UvTooOld, UvBroken, SettingsUnreadable: as for a build.
    """
    target = generated.path(root, spec.lock_name)
    title = component or spec.lock_name
    try:
        # At the lock's own depth, because uv writes paths relative to the file that it writes.
        folder = _private_folder(root)
        try:
            inputs = lockinputs.prepare(spec, root, folder, environ)
            observer(_phase(title, inputs.title))
            attempt = _Attempt(inputs, folder, target, interpreter, environ)

            def resolve() -> str:
                with (
                    _log(log_directory, spec.lock_name, attempt.hidden) as log,
                    Group() if group is None else nullcontext(group) as running,
                ):
                    attempt.run(spec, title, log, observer, running, upgrade=upgrade, offline=offline)
                with open(attempt.out, encoding="utf-8") as file:
                    return file.read()

            if resolutions is None:
                text = resolve()
            else:
                pins = None if upgrade else _text(target)
                text = resolutions.once(meaning(spec, root, interpreter, environ, pins), resolve)
            _replace(target, generated.stamp(text, spec, root, environ))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        why = f"{error.strerror or type(error).__name__} ({error.filename or target})"
        raise LockingFailed(why, component=component, source=str(spec.origin)) from error
    return target


class _Attempt:
    """One resolution by uv, in a private folder."""

    def __init__(
        self,
        inputs: LockInputs,
        folder: str,
        target: str,
        interpreter: Interpreter,
        environ: Mapping[str, str],
    ) -> None:
        self.inputs = inputs
        self.folder = folder
        self.root = os.path.dirname(os.path.dirname(target))
        self.target = target
        self.out = os.path.join(folder, "pylock.toml")
        self.interpreter = interpreter
        self.environ = environ
        self.variables = settings.variables(environ)
        self.hidden = secrets.secrets_of(environ)

    def run(  # noqa: PLR0913 - what a resolution needs, each once
        self,
        spec: EnvironmentSpec,
        component: str,
        log: Log | None,
        observer: Observer,
        group: Group,
        *,
        upgrade: bool,
        offline: bool,
    ) -> None:
        """Resolve into :attr:`out`.

        :raises LockingFailed: uv ended with another status than 0.
        """
        uv = binary.find(self.environ)
        binary.version(uv)
        transport = settings.transport(self.environ)
        text = ownconfig.merged(
            transport,
            spec.options.indexes,
            _settings(spec, self.inputs),
            self.inputs.own_directory or self.inputs.directory,
        )
        upgraded: tuple[str, ...] = ()
        if not upgrade and os.path.exists(self.target):
            upgraded = generated.asked_anew(spec, self.root, self.environ)
            shutil.copyfile(self.target, self.out)  # uv keeps the pins that it finds where it writes
        arguments = commands.pip_compile(
            self.inputs.files,
            self.out,
            python=self.interpreter.path,
            config=_written(self.folder, "uv.toml", text),
            constraints=self.inputs.constraints,
            overrides=self.inputs.overrides,
            build_constraints=self.inputs.build_constraints,
            upgrade=upgrade,
            upgraded=upgraded,
            offline=offline,
        )
        say = _speaker(log, observer)
        for ignored in transport.ignored:
            what = f"{ignored.key} in {ignored.file} is ignored: it would change what is installed"
            observer(Note(key="", text=what, at=time.monotonic()))
        outcome = group.run(
            [uv, *arguments],
            cwd=self.inputs.directory,
            env=self.variables | _build_variables(spec, self.environ),
            on_line=say,
            secrets=self.hidden,
        )
        if not outcome.ok:
            raise self._failure(outcome, component, log)
        unprovided.refuse(outcome.tail, spec, self.environ)

    def _failure(self, outcome: Outcome, component: str, log: Log | None) -> LockingFailed:
        lines = tuple(line.replace(f"{self.folder}{os.sep}", "") for line in outcome.tail)
        return LockingFailed(
            causes.cause(lines),
            component=component,
            source=self.inputs.title,
            output=lines,
            log=log.path if log else None,
        )


def _settings(spec: EnvironmentSpec, inputs: LockInputs) -> dict[str, Any]:
    """Return the settings of uv's that the source and the declaration decide."""
    said = {
        "prerelease": spec.options.prerelease,
        "index-strategy": spec.options.index_strategy,
        "no-sources-package": list(inputs.without_sources) or None,
    }
    return {**(inputs.own or {}), **{name: value for name, value in said.items() if value is not None}}


def _build_variables(spec: EnvironmentSpec, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the declared build variables: metadata of a source is had by building it."""
    declared = {name: environ.get(name) if value is None else value for name, value in spec.options.build_env}
    return {name: value for name, value in declared.items() if value is not None}


def _private_folder(root: str) -> str:
    """Make a folder beside ``greenroom.lock``; remove those of processes that were killed."""
    from tempfile import mkdtemp  # noqa: PLC0415 - only where a lock is written

    host = socket.gethostname()
    for name in os.listdir(root):
        if name.startswith(f"{_PRIVATE}{host}-") and not _lives(name):
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
    return mkdtemp(prefix=f"{_PRIVATE}{host}-{os.getpid()}-", dir=root)


def _lives(name: str) -> bool:
    number = name.rsplit("-", 2)[1]
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):
        return True
    return True


def _replace(target: str, text: str) -> None:
    """Write the lock so that a reader sees the old or the new one, never a part."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    private = f"{target}.{os.getpid()}"
    try:
        with open(private, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(private, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(private)
        raise


def _log(directory: str | None, name: str, hidden: tuple[str, ...]) -> _NoLog | Log:
    return Log(directory, f"lock-{name}", hidden) if directory else _NoLog()


class _NoLog:
    """Stands where a log would be."""

    def __enter__(self) -> None:
        """Return nothing."""

    def __exit__(self, *exception: object) -> None:
        """Do nothing."""


def _speaker(log: Log | None, observer: Observer) -> Callable[[str], None]:
    def say(line: str) -> None:
        text = log.write(line) if log is not None else line
        observer(Output(key="", line=text, at=time.monotonic()))

    return say


def _phase(component: str, detail: str) -> Phase:
    return Phase(key="", components=(component,), phase="lock", detail=detail, at=time.monotonic())


def _text(path: str) -> str | None:
    """Return a lock's text, None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _written(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path
