"""uv's command lines as pure functions: the only place that spells a flag.

Each returns the arguments without uv's own path. Whatever a variable, a configuration file or a
working directory could decide is said explicitly; what has no flag is kept out by
:func:`greenroom.uv.settings.variables` (the environment) and by ``--config-file``, which drops the
user's, the machine's and every surrounding project's configuration.

Paths are absolute and normalized; ``python`` is an interpreter's absolute path, the
environment's own one where something is installed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "build_wheel",
    "cache_clean",
    "cache_dir",
    "pip_compile",
    "pip_install",
    "pip_install_late",
    "pip_sync",
    "python_find",
    "python_install",
    "venv",
]

Arguments = tuple[str, ...]


def venv(target: str, *, python: str, config: str) -> Arguments:
    """Create an empty relocatable environment, without pip.

    :param target: where; must not exist or be empty.
    :param python: the base interpreter, resolved: uv writes it into ``pyvenv.cfg`` as given.
    :param config: the generated ``uv.toml``.
    """
    return (
        "venv",
        *("--python", python),
        "--relocatable",
        "--no-project",
        *_surroundings(config),
        target,
    )


def pip_sync(  # noqa: PLR0913 - one flag each
    lock: str,
    *,
    python: str,
    config: str,
    link_mode: str | None = None,
    offline: bool = False,
    refresh: Iterable[str] = (),
    isolated: bool = True,
) -> Arguments:
    """Make an environment hold exactly what a ``pylock.toml`` says.

    :param lock: named ``pylock.toml`` or ``pylock.<name>.toml``; its relative paths are relative to it.
    :param python: ``<environment>/bin/python``.
    :param link_mode: ``hardlink``, ``clone`` or ``copy``; None: uv's default.
    :param refresh: packages whose cached data is not trusted, and that are installed again: local sources.
    :param isolated: False: builds see the environment itself.
    """
    return (
        "pip",
        "sync",
        # Without it uv only adds a warning that says so; a newer uv that does not know it warns as well.
        *("--preview-features", "pylock"),
        "--allow-empty-requirements",
        *_installation(python=python, config=config, link_mode=link_mode, offline=offline, refresh=refresh),
        *(() if isolated else ("--no-build-isolation",)),
        lock,
    )


def pip_install(  # noqa: PLR0913 - one flag each
    items: Iterable[str],
    *,
    python: str,
    config: str,
    editable: Iterable[str] = (),
    locks: Iterable[str] = (),
    link_mode: str | None = None,
    offline: bool = False,
    refresh: Iterable[str] = (),
    reinstall: bool = False,
    isolated: bool = True,
) -> Arguments:
    """Add wheels, directories or editables to an environment, and nothing that they need.

    :param items: paths of wheels or directories.
    :param editable: directories to be installed in place.
    :param locks: ``pylock.<name>.toml`` files: everything that they list, too.
    :param refresh: packages whose cached data is not trusted: a directory's, always.
    :param reinstall: replace what is there of the same name and version.
    """
    return (
        "pip",
        "install",
        *("--preview-features", "pylock"),  # as above
        "--no-deps",
        *_installation(python=python, config=config, link_mode=link_mode, offline=offline, refresh=refresh),
        *(("--reinstall",) if reinstall else ()),
        *(() if isolated else ("--no-build-isolation",)),
        *_each("--editable", editable),
        *_each("--requirements", locks),
        *items,
    )


def pip_install_late(
    requirements: Iterable[str],
    *,
    python: str,
    config: str,
    find_links: str,
    link_mode: str | None = None,
) -> Arguments:
    """Add packages from a directory of wheels, by name and version, and nothing else.

    :param requirements: ``name==version`` each; another version in the directory fails.
    :param find_links: the directory.
    """
    return (
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        *("--find-links", find_links),
        *_installation(python=python, config=config, link_mode=link_mode, offline=True, refresh=()),
        *requirements,
    )


def build_wheel(  # noqa: PLR0913 - one flag each
    source: str,
    out: str,
    *,
    python: str,
    config: str,
    constraints: Iterable[str] = (),
    settings: Iterable[tuple[str, str]] = (),
    isolated: bool = True,
    sources: bool = True,
    offline: bool = False,
) -> Arguments:
    """Build one wheel from a source directory or an sdist.

    :param out: the directory for the wheel.
    :param python: the base interpreter; without isolation the interpreter that sees what the build needs.
    :param constraints: files of build constraints.
    :param settings: settings for the build backend.
    :param isolated: False: the build sees the packages of ``python``.
    :param sources: False: a project's ``tool.uv.sources`` do not count.
    """
    return (
        "build",
        "--wheel",
        *("--out-dir", out),
        "--no-create-gitignore",
        *("--python", python),
        *_surroundings(config),
        *_each("--build-constraints", constraints),
        *_each("--config-setting", (f"{name}={value}" for name, value in settings)),
        *(() if isolated else ("--no-build-isolation",)),
        *(() if sources else ("--no-sources",)),
        *(("--offline",) if offline else ()),
        source,
    )


def pip_compile(  # noqa: PLR0913 - one flag each
    sources: Iterable[str],
    out: str,
    *,
    python: str,
    config: str,
    python_version: str | None = None,
    constraints: Iterable[str] = (),
    overrides: Iterable[str] = (),
    build_constraints: Iterable[str] = (),
    upgrade: bool = False,
    upgraded: Iterable[str] = (),
    offline: bool = False,
) -> Arguments:
    """Resolve requirements for all platforms into a ``pylock.toml`` with URLs and hashes.

    The header, which would repeat the command line, is left out. uv prints the result too: run it with
    ``errors_only``.

    :param sources: requirements files.
    :param out: named ``pylock.toml`` or ``pylock.<name>.toml``; what it pins already is kept
        unless ``upgrade``.
    :param upgraded: packages whose pins are not kept.
    :param python: the interpreter that builds metadata, and the lowest version resolved for.
    :param python_version: another lowest version.
    """
    return (
        "pip",
        "compile",
        "--universal",
        *("--format", "pylock.toml"),
        *("--output-file", out),
        "--no-header",
        "--no-annotate",
        *("--python", python),
        *(("--python-version", python_version) if python_version else ()),
        *_surroundings(config),
        *_each("--constraints", constraints),
        *_each("--overrides", overrides),
        *_each("--build-constraints", build_constraints),
        *(("--upgrade",) if upgrade else _each("--upgrade-package", upgraded)),
        *(("--offline",) if offline else ()),
        *sources,
    )


def python_find(request: str) -> Arguments:
    """Print the path of an interpreter that satisfies a request, never an environment's.

    What is on PATH decides, and what uv installed itself; no configuration does.
    """
    return (
        "python",
        "find",
        "--system",
        "--no-project",
        "--resolve-links",
        "--no-config",
        "--no-python-downloads",
        request,
    )


def python_install(request: str, *, config: str) -> Arguments:
    """Download an interpreter that satisfies a request."""
    return ("python", "install", "--no-bin", "--config-file", config, "--no-progress", request)


def cache_dir(*, config: str) -> Arguments:
    """Print the cache's directory."""
    return ("cache", "dir", "--config-file", config)


def cache_clean(packages: Iterable[str], *, config: str) -> Arguments:
    """Forget what the cache holds of these packages: the only cure for a damaged entry.

    Refreshing does not help where an index says that a file never changes, as the public one does.
    It waits until no other uv uses the cache.

    :param packages: names; at least one, because none would empty the whole cache.
    :raises ValueError: no name.
    """
    names = tuple(packages)
    if not names:
        raise ValueError
    return ("cache", "clean", "--config-file", config, *names)


def _surroundings(config: str) -> Arguments:
    return ("--config-file", config, "--no-python-downloads", "--no-progress")


def _installation(
    *, python: str, config: str, link_mode: str | None, offline: bool, refresh: Iterable[str]
) -> Arguments:
    return (
        *("--python", python),
        *_surroundings(config),
        "--no-compile-bytecode",
        *(("--link-mode", link_mode) if link_mode else ()),
        *(("--offline",) if offline else ()),
        # It refreshes too, and unlike --refresh-package is not refused offline.
        *_each("--reinstall-package", refresh),
    )


def _each(flag: str, values: Iterable[str]) -> Arguments:
    return tuple(word for value in values for word in (flag, value))
