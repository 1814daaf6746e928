"""The words of a declaration as frozen data: components, their sources and options.

Nothing here reads a file or runs a process. Paths are absolute; relative ones were taken
relative to the file that names them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Component",
    "Declaration",
    "EnvironmentSpec",
    "Host",
    "Index",
    "InlineSource",
    "Launch",
    "LogOptions",
    "Options",
    "Origin",
    "Probe",
    "ProjectSource",
    "PylockSource",
    "RequirementsSource",
    "Restart",
    "ScriptSource",
    "Service",
    "Stage",
    "StoreOptions",
]

Pairs = tuple[tuple[str, str], ...]
"""A mapping as sorted pairs: frozen all the way down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value stands: file, line (1-based, 0 when the parser gave none) and key."""

    file: str
    line: int
    key: str

    def __str__(self) -> str:
        """Return ``file:line [table] key`` for an error's first words."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} {self.key}" if self.key else place


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSource:
    """Extras and dependency groups of a uv project (``pyproject.toml`` and ``uv.lock``)."""

    directory: str
    """The workspace's root: the directory that holds ``uv.lock``."""
    package: str | None = None
    """A workspace member's name; None is the root's own project."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    default_groups: bool = True
    """Whether uv's ``default-groups`` count (they do in ``uv sync``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PylockSource:
    """A ``pylock.toml`` or ``pylock.<name>.toml`` (PEP 751), with its own extras and groups."""

    path: str
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    default_groups: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementsSource:
    """Requirements files with what restricts them; locked in ``greenroom.lock/``."""

    requirements: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    extra_requirements: tuple[str, ...] = ()
    """Requirement lines added to the files' own."""
    base: str = ""
    """The directory that these lines are relative to; the first requirements file's where there is one."""
    config: str | None = None
    """The component's own ``uv.toml``, honoured and part of the lock's inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineSource:
    """Requirement lines written in the declaration itself; locked in ``greenroom.lock/``."""

    requirements: tuple[str, ...]
    base: str
    """The directory that relative paths in the lines are relative to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSource:
    """A script with inline metadata (PEP 723); locked in ``greenroom.lock/``."""

    path: str


Source = ProjectSource | PylockSource | RequirementsSource | InlineSource | ScriptSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A package index by name; credentials come from ``UV_INDEX_<NAME>_USERNAME/PASSWORD``."""

    name: str
    url: str
    explicit: bool = False
    default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The project that servers come with and require by relative path (``-e host[dev] @ ../../``)."""

    name: str
    """Normalized."""
    path: str
    """Where its checkout would be."""
    version: str | None = None
    """A version or specifiers; None: the version that the driver has installed."""
    driver: str | None = None
    """The declared driver's interpreter; None: greenroom's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a component or environment may say beside its source."""

    python: str | None = None
    """A request: specifier set, version, or absolute path; None: the driver's."""
    python_origin: Origin | None = None
    indexes: tuple[Index, ...] = ()
    build_env: tuple[tuple[str, str | None], ...] = ()
    """Variables that builds may read; a value of None is taken from the caller's."""
    no_build_isolation: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Package -> the packages of the environment its build sees; () means all isolated ones.
    The order is the order of the chain: each may use those before it."""
    install_local: bool = True
    late_packages: tuple[str, ...] = ()
    compile_bytecode: bool = True
    link_mode: str | None = None
    """``hardlink``, ``clone``, ``copy``, or None: uv's default for the platform."""
    allow_clash: tuple[str, ...] = ()
    """Packages that win a clash of files: installed last."""
    post_install: tuple[tuple[str, ...], ...] = ()
    smoke: tuple[str, ...] = ()
    prerelease: str | None = None
    """uv's policy for pre-releases where greenroom locks; None: uv's default."""
    index_strategy: str | None = None
    """uv's way through several indexes where greenroom locks; None: uv's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSpec:
    """A source with its options: what a recipe is made from."""

    source: Source
    options: Options
    lock_name: str
    """The ``<name>`` of ``greenroom.lock/pylock.<name>.toml`` for sources that have no lock."""
    origin: Origin
    host: Host | None = None
    """Whose relative paths in requirements stand for an installed version, where it is no checkout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What the process of a component is started with, beside its interpreter."""

    variables: Pairs = ()
    env_file: str | None = None
    directory: str | None = None
    command: tuple[str, ...] = ()
    alias: str | None = None
    """Where other tools expect its environment: ``<server's directory>/.venv``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How it is told that a server is ready."""

    kind: str
    """``http``, ``tcp``, ``log`` or ``exec``."""
    target: str = ""
    """A URL, ``host:port`` or a regular expression; may hold placeholders."""
    command: tuple[str, ...] = ()
    """The argument list of ``exec``."""
    interval: float = 0.25
    """Seconds between attempts; the first ones follow faster."""
    timeout: float = 5
    """Seconds for one attempt."""
    start_period: float = 60
    """Seconds after which a server that is not ready has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """When a server that ended is started again."""

    policy: str = "never"
    """``never``, ``on-failure`` or ``always``."""
    limit: int = 10
    """How often in a row at most."""
    backoff: float = 0.5
    """Seconds before the first restart; doubled each time, one minute at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What becomes of a server's output."""

    directory: str | None = None
    rotate_size: int = 64_000_000
    """Bytes after which a new file is begun."""
    keep: int = 3
    """How many files of before are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """How a server's process is run and supervised."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None: a free one, where one is used."""
    socket: str = "hold"
    """``hold``, ``pass`` or ``none``: how its port is kept for it."""
    ready: Probe | None = None
    needs: Pairs = ()
    """Server -> ``started``, ``ready`` or ``completed``, in the declared order."""
    restart: Restart = Restart()
    stop_signal: str = "SIGTERM"
    grace: float = 10
    """Seconds between that signal and SIGKILL."""
    replicas: int = 1
    tags: tuple[str, ...] = ()
    log: LogOptions = LogOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """What runs in its own process: an actor or a server."""

    name: str
    kind: str
    """``actor`` or ``server``."""
    spec: EnvironmentSpec | None
    """None: the driver's interpreter, no environment."""
    launch: Launch
    origin: Origin
    service: Service | None = None
    """A server's; None for actors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """An image layer: the extras that only it can finish, and the packages it owns."""

    name: str
    extras: tuple[str, ...] = ()
    late_packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """Where the declaration puts stores and aliases."""

    paths: tuple[str, ...] = ()
    aliases: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What was written, checked, with where each part stands."""

    file: str
    root: str
    components: tuple[Component, ...]
    stages: tuple[Stage, ...] = ()
    store: StoreOptions = StoreOptions()
    driver: str | None = None
    """The driver's interpreter, when it is not greenroom's own."""
    pythons: tuple[str, ...] = ()
    """Declared interpreter paths, looked at before uv is asked."""
    python_downloads: bool = False
    on_drift: str = "error"
    """What ``image verify`` does where image and declaration differ: ``error``, ``warn`` or ``rebuild``."""
    files: tuple[str, ...] = ()
    """Every file and directory whose change could change this declaration."""
