"""Write the texts from which an image is built: a Dockerfile, one layer a stage, and a .dockerignore."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from greenroom import __version__
from greenroom.actor_environments import normalized
from greenroom.components import ProjectSource
from greenroom.errors import FileInTheWay, OutsideContext, StoreFailed
from greenroom.images import stages
from greenroom.locks import generated
from greenroom.locks import reading as locks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.components import Declaration, EnvironmentSpec, Stage

__all__ = ["needed", "texts", "write"]

_MARK = "# Written by `greenroom image dockerfile`"
_STORE = "/opt/greenroom"
_CACHE = "/var/cache/greenroom"
_PIP_CACHE = "/var/cache/pip"
_NETRC = "/run/secrets/netrc"
"""A cache mount: uv's cache and greenroom's own, of which nothing is to be in a layer."""
_METADATA = ("pyproject.toml", "setup.py", "setup.cfg")
_USER = "65532:65532"

_HEAD = """\
# syntax=docker/dockerfile:1
{mark}: it can be written again.
#
#   docker build --secret id=netrc,src=$HOME/.netrc .    (for private indexes; the secret may be absent)
#   docker run --read-only --network none IMAGE greenroom status
#
# For several platforms (docker buildx build --platform linux/amd64,linux/arm64 .) each has environments and
# keys of its own.
"""
_LATE = """\
#
# The wheels of late packages come from a build context of their own, in a folder for each stage:
#   docker build --build-context late-wheels=wheels .    with wheels/{stage}/*.whl
# or from a stage `FROM ... AS late-wheels` that compiles them to /{stage}/. It may hold wheels for all
# platforms: the one for the platform is taken.
"""

_IGNORED = (
    *(".git", ".hg", ".jj", ".svn", ".github", ".env", ".env.*", ".netrc", "*.pem", "*.key"),
    *("**/.venv", "**/__pycache__", "**/*.py[co]", "**/*.egg-info", "**/.mypy_cache", "**/.pytest_cache"),
    *("**/.ruff_cache", "**/node_modules", "Dockerfile", ".dockerignore"),
)


def needed(declaration: Declaration, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that decide the environments' keys, relative to the declaration's directory, sorted.

    Not those of local sources: they come with the last stage.

    :raises OutsideContext: one is not below that directory.
    """
    root = declaration.root
    found = {path for path in declaration.files if path == declaration.file or not _is_metadata(path)}
    for component in declaration.components:
        if component.spec is not None:
            found.update(_inputs(component.spec, root, environ))
    return tuple(sorted(_relative(path, root) for path in found if os.path.isfile(path)))


def texts(  # noqa: PLR0913 - what is to be written, each by name
    declaration: Declaration,
    environ: Mapping[str, str],
    *,
    base: str | None = None,
    python: str = "3.12",
    install: bool = True,
    skip_extras: Iterable[str] = (),
    directory: str = "/app",
) -> dict[str, str]:
    """Return the texts: file name -> text, the same for the same declaration.

    :param base: the image to start from; None: Python's slim one.
    :param python: the version of that one.
    :param install: install greenroom; False: the base has it, and uv.
    :param directory: the project's place in the image: editable sources make it part of the keys.
    :raises OutsideContext: a file that is needed is not below the declaration's directory.
    :raises UnknownExtra: there is no such extra.
    """
    skipped = tuple(skip_extras)
    known = stages.extras_declared(declaration.components)
    stages.skipped(declaration.components, skipped, known, declaration.file)  # unknown ones are wrong use
    late = [stage.name for stage in declaration.stages if _brings_late(stage, declaration)]
    parts = [
        _HEAD.format(mark=_MARK) + (_LATE.format(stage=late[0]) if late else ""),
        _base(base or f"python:{python}-slim", directory, install=install),
        _first(needed(declaration, environ), skipped),
        *_declared(declaration, skipped, late),
        _last(declaration, skipped),
    ]
    ignored = "\n".join(
        [f"{_MARK}.", *_IGNORED, *(["/wheels"] if late else []), *_stores(declaration), *_kept(declaration)]
    )
    return {"Dockerfile": "\n".join(parts), ".dockerignore": f"{ignored}\n"}


def write(found: Mapping[str, str], directory: str) -> dict[str, str]:
    """Write the texts into a directory; those that were written before are replaced.

    :returns: file name -> path.
    :raises FileInTheWay: a file that greenroom did not write stands there; nothing is written.
    :raises StoreFailed: the operating system refuses.
    """
    paths = {name: os.path.join(directory, name) for name in found}
    for path in paths.values():
        with suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as file:
            if _MARK not in file.read(2000):
                raise FileInTheWay(path)
    for name, path in paths.items():
        try:
            os.makedirs(directory, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(found[name])
        except OSError as error:
            raise StoreFailed.of("write the file", path, error) from error
    return paths


def _base(image: str, directory: str, *, install: bool) -> str:
    lines = [f"FROM {image} AS base"]
    if install:
        lines += [
            f"ARG GREENROOM=greenroom=={__version__}",
            f"RUN --mount=type=cache,id=pip,target={_PIP_CACHE} \\",
            f"    PIP_CACHE_DIR={_PIP_CACHE} \\",
            '    python -m pip install --disable-pip-version-check --root-user-action=ignore "$GREENROOM"',
        ]
    lines += [
        f"ENV GREENROOM_STORE={_STORE}",
        f"WORKDIR {directory}",
        "",
    ]
    return "\n".join(lines)


def _first(files: tuple[str, ...], skipped: tuple[str, ...]) -> str:
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(os.path.dirname(path), []).append(path)
    copies = [
        f"COPY {json.dumps([*paths, f'./{folder}/' if folder else './'], ensure_ascii=False)}"
        for folder, paths in folders.items()
    ]
    return "\n".join(["FROM base AS stage-deps", *copies, _run("deps", skipped), ""])


def _declared(declaration: Declaration, skipped: tuple[str, ...], late: list[str]) -> Iterator[str]:
    before = stages.FIRST
    for stage in declaration.stages:
        mounted = stage.name in late
        mount = f"--mount=type=bind,from=late-wheels,source=/{stage.name},target=/wheels" if mounted else ""
        more = "--find-links /wheels" if mounted else ""
        yield "\n".join(
            [
                f"FROM {_named(before)} AS {_named(stage.name)}",
                _run(stage.name, skipped, mount=mount, more=more),
                "",
            ]
        )
        before = stage.name


def _last(declaration: Declaration, skipped: tuple[str, ...]) -> str:
    before = declaration.stages[-1].name if declaration.stages else stages.FIRST
    return "\n".join(
        [
            f"FROM {_named(before)} AS {_named(stages.LAST)}",
            'COPY [".", "./"]',
            _run(stages.LAST, skipped, after=("greenroom image freeze",)),
            f"USER {_USER}",
            "",
        ]
    )


def _run(
    stage: str, skipped: tuple[str, ...], *, mount: str = "", more: str = "", after: tuple[str, ...] = ()
) -> str:
    mounts = (
        f"--mount=type=cache,id=greenroom,target={_CACHE}",
        f"--mount=type=secret,id=netrc,target={_NETRC}",
        *((mount,) if mount else ()),
    )
    words = " ".join(filter(None, (more, *(f"--skip-extra {extra}" for extra in skipped))))
    sync = f"greenroom image sync --stage {stage} {words}".rstrip()
    commands = " \\\n && ".join(
        (f"export XDG_CACHE_HOME={_CACHE} NETRC={_NETRC}", sync, *after, "greenroom image prune-cache")
    )
    return "RUN " + " \\\n    ".join(mounts) + f" \\\n    {commands}"


def _named(stage: str) -> str:
    """Return the name of a stage's target: Dockerfiles have lower-case names."""
    return f"stage-{stage.lower()}"


def _brings_late(stage: Stage, declaration: Declaration) -> bool:
    """Tell whether a stage has late packages, or a component that it finishes names some of its own."""
    if stage.late_packages:
        return True
    owned = {package for each in declaration.stages for package in each.late_packages}
    wanted = set(map(normalized, stage.extras))
    return any(
        set(component.spec.options.late_packages) - owned
        for component in declaration.components
        if component.spec is not None and not wanted.isdisjoint(stages.extras_of(component.spec))
    )


def _inputs(spec: EnvironmentSpec, root: str, environ: Mapping[str, str]) -> Iterator[str]:
    source = spec.source
    if isinstance(source, ProjectSource):
        for name in ("pyproject.toml", "uv.lock", "uv.toml"):
            yield os.path.join(source.directory, name)
        return
    if isinstance(source, generated.LOCKED_HERE):
        yield generated.path(root, spec.lock_name)
    yield from (path for path in locks.inputs(spec, root, environ) if not _is_metadata(path))


def _is_metadata(path: str) -> bool:
    return os.path.basename(path) in _METADATA


def _relative(path: str, root: str) -> str:
    relative = os.path.relpath(path, root)
    if relative.startswith(os.pardir + os.sep):
        raise OutsideContext(path, root)
    return relative


def _stores(declaration: Declaration) -> list[str]:
    """Return the declared stores and aliases that stand in the build context."""
    places = [*declaration.store.paths, *filter(None, [declaration.store.aliases])]
    relative = [os.path.relpath(place, declaration.root) for place in places]
    return sorted({place for place in relative if not place.startswith(os.pardir)})


def _kept(declaration: Declaration) -> list[str]:
    """Return the files of variables that components declare: they are none of the ignored ones."""
    files = {component.launch.env_file for component in declaration.components if component.launch.env_file}
    return [f"!{_relative(file, declaration.root)}" for file in sorted(files)]
