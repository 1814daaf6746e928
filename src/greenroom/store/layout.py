"""Tell where a store is, what stands in it, and in which state an environment is.

An environment's path is a function of store and key, and so the same on every node. Nothing
here writes, except :func:`prepare`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from greenroom.errors import NoStoreWritable, RecordUnreadable, StoreFailed, StorePathRefused
from greenroom.store.model import PARTIAL, RECORD, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.components import StoreOptions
    from greenroom.store.model import Record

__all__ = ["Store", "building", "find", "is_key", "keys", "prepare", "state", "stores"]

_INNER = ".greenroom"
_SHELL = frozenset("|&;<>()$`\\\"'*?[]{}!#~:")
_KEY = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Environments built by greenroom; see https://bford.info/cachedir/\n"
)
_IGNORED = "# Built environments: never uploaded, never committed.\n*\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A directory that holds environments by key."""

    path: str
    """Absolute and normalized, symbolic links kept: what was named is what nodes agree on."""
    writable: bool

    def environment(self, key: str) -> str:
        """Return the directory of an environment."""
        return f"{self.path}/{key}"

    def interpreter(self, key: str) -> str:
        """Return the interpreter's path of an environment."""
        return f"{self.path}/{key}/bin/python"

    def record(self, key: str) -> str:
        """Return the path of the record: its presence makes an environment ready."""
        return f"{self.path}/{key}/{RECORD}"

    def partial(self, key: str) -> str:
        """Return the path of the partial record of an image's unfinished environment."""
        return f"{self.path}/{key}/{PARTIAL}"

    def lock(self, key: str) -> str:
        """Return the lock file of an environment's key or a wheel's key."""
        return f"{self.locks}/{key}.lock"

    def wheel(self, wheel_key: str) -> str:
        """Return the directory of a wheel that was built here."""
        return f"{self.wheels}/{wheel_key}"

    @property
    def inner(self) -> str:
        """The directory of what is not an environment."""
        return f"{self.path}/{_INNER}"

    @property
    def building(self) -> str:
        """The directory of the private names of running builds."""
        return f"{self.path}/{_INNER}/building"

    @property
    def locks(self) -> str:
        """The directory of lock files; none is ever removed."""
        return f"{self.path}/{_INNER}/locks"

    @property
    def wheels(self) -> str:
        """The directory of wheels built here, by wheel key."""
        return f"{self.path}/{_INNER}/wheels"

    @property
    def bytecode(self) -> str:
        """The directory of compiled files by interpreter and digest of the source."""
        return f"{self.path}/{_INNER}/bytecode"

    @property
    def logs(self) -> str:
        """The directory of the builds' logs."""
        return f"{self.path}/{_INNER}/logs"

    @property
    def roots(self) -> str:
        """The directory that says which declarations and aliases use what."""
        return f"{self.path}/{_INNER}/roots"

    @property
    def trash(self) -> str:
        """The directory of what is being removed."""
        return f"{self.path}/{_INNER}/trash"

    @property
    def interpreters(self) -> str:
        """The file of choices of interpreters that a sync made."""
        return f"{self.path}/{_INNER}/interpreters.json"


def stores(options: StoreOptions, environ: Mapping[str, str]) -> tuple[Store, ...]:
    """Return the stores in the order in which they are searched; the first writable one builds.

    ``GREENROOM_STORE`` (several separated by ``:``) goes before the declaration's paths, these before
    ``$XDG_DATA_HOME/greenroom`` and ``~/.local/share/greenroom``, which is the default on macOS
    too: the usual place there has a space.

    :raises StorePathRefused: a path cannot hold a store.
    """
    named = environ.get("GREENROOM_STORE", "")
    if named:
        origin = "GREENROOM_STORE"
        paths = [_expanded(path, environ) for path in named.split(os.pathsep) if path]
    elif options.paths:
        origin = "[store] path"
        paths = list(options.paths)
    else:
        origin = "the default store"
        paths = [_default(environ)]
    checked = dict.fromkeys(_checked(path, origin) for path in paths)
    if not checked:
        raise StorePathRefused(named, "it names no directory", origin=origin)
    return tuple(Store(path=path, writable=_writable(path)) for path in checked)


def building(found: Sequence[Store]) -> Store:
    """Return the store that builds: the first writable one.

    :raises NoStoreWritable: all are read-only.
    """
    for store in found:
        if store.writable:
            return store
    raise NoStoreWritable(store.path for store in found)


def find(found: Sequence[Store], key: str) -> tuple[Store, Record] | None:
    """Return the first store that has ``key`` ready, with its record."""
    for store in found:
        state_, _, record = _examine(store, key)
        if state_ == State.READY and record is not None:
            return store, record
    return None


def state(store: Store, key: str) -> tuple[str, str]:
    """Tell the state of an environment and the reason in words (empty when ready).

    Cheap: one file is read, one stat tells whether the base interpreter is the same.

    :returns: one of the words of :class:`State`, and the reason.
    """
    found, reason, _ = _examine(store, key)
    return found, reason


def is_key(name: str) -> bool:
    """Tell whether a file name has the form of an environment's key."""
    abi, dash, digest = name.partition("-")
    return bool(abi and dash and len(digest) == 24 and _KEY.issuperset(abi) and _KEY.issuperset(digest))


def keys(store: Store) -> tuple[str, ...]:
    """Return every key that has a directory in the store, in whatever state, sorted.

    :raises StoreFailed: the store cannot be listed.
    """
    try:
        return tuple(sorted(name for name in os.listdir(store.path) if is_key(name)))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StoreFailed.of("list the store", store.path, error) from error


def prepare(store: Store) -> None:
    """Make the directories of a store, and the files that keep it out of backups and uploads.

    The store itself becomes readable for others whatever the umask, because other users launch
    from it; its lock and log folders follow the umask.

    :raises StoreFailed: the operating system refuses.
    """
    try:
        os.makedirs(store.path, exist_ok=True)
        for path in (store.path, store.inner):
            os.makedirs(path, exist_ok=True)
            _open_to_readers(path)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", _IGNORED), (".rayignore", _IGNORED)):
            _write_once(f"{store.path}/{name}", text)
        folders = (store.building, store.locks, store.wheels, store.bytecode, store.logs, store.roots)
        for path in (*folders, store.trash):
            os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise StoreFailed.of("make the store", error.filename or store.path, error) from error


def _examine(store: Store, key: str) -> tuple[str, str, Record | None]:
    if not (os.path.lexists(store.record(key)) or os.path.lexists(store.partial(key))):
        return State.MISSING, "not built", None
    from greenroom.store import machine, records  # noqa: PLC0415 - heavy: only where there is a record

    try:
        record = records.read(store, key)
        partial = None if record else records.read_partial(store, key)
    except RecordUnreadable as error:
        return State.DAMAGED, error.reason, None
    if record is None:
        if partial is None:
            return State.MISSING, "not built", None
        waiting = ", ".join(partial.pending)
        return State.PARTIAL, f"still to come: {waiting}" if waiting else "a later stage finishes it", None
    reason = machine.foreign(record) or machine.base_changed(record)
    return (State.DAMAGED, reason, record) if reason else (State.READY, "", record)


def _default(environ: Mapping[str, str]) -> str:
    data = environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(data):  # the XDG specification: relative ones are to be ignored
        return f"{data}/greenroom"
    home = _home(environ)
    if home is None:
        raise StorePathRefused(
            "~/.local/share/greenroom", "this user has no home", origin="the default store"
        )
    return f"{home}/.local/share/greenroom"


def _home(environ: Mapping[str, str]) -> str | None:
    home = environ.get("HOME", "")
    if os.path.isabs(home):
        return home
    from pwd import getpwuid  # noqa: PLC0415 - rarely needed

    try:
        home = getpwuid(os.getuid()).pw_dir
    except KeyError:
        return None
    return home if os.path.isabs(home) and os.path.isdir(home) else None


def _expanded(path: str, environ: Mapping[str, str]) -> str:
    if path == "~" or path.startswith("~/"):
        return f"{_home(environ) or '~'}{path[1:]}"
    return path


def _checked(path: str, origin: str) -> str:
    reason = _refusal(path)
    if reason:
        raise StorePathRefused(path, reason, origin=origin)
    return "/" + os.path.normpath(path).lstrip("/")  # POSIX lets "//" stand for something else


def _refusal(path: str) -> str | None:
    if not os.path.isabs(path):
        return "it is not absolute"
    if any(character.isspace() for character in path):
        return "it holds white space, and Ray joins interpreter paths unquoted into a shell line"
    if not path.isprintable():
        return "it holds characters that cannot be printed or decoded"
    special = sorted(_SHELL.intersection(path))
    if special:
        return f"it holds {' '.join(special)}, which a shell line or PATH would take for something else"
    if os.path.normpath(path).strip("/") == "":
        return "it is the root of the file system"
    return None


def _writable(path: str) -> bool:
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)


def _open_to_readers(path: str) -> None:
    mode = os.stat(path).st_mode
    if mode & 0o555 != 0o555:
        os.chmod(path, (mode & 0o7777) | 0o555)  # noqa: S103 - for reading


def _write_once(path: str, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
