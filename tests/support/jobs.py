"""Make jobs for the builder from files of the test's index, without a declaration or a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.utils import parse_sdist_filename, parse_wheel_filename

from greenroom.builder.work import Job
from greenroom.interpreters import discovery
from greenroom.locks import model as locks
from greenroom.recipes import keys
from greenroom.recipes.model import (
    Build,
    BuildInputs,
    Content,
    Distribution,
    Origins,
    Python,
    Recipe,
    Supply,
    Wheel,
)
from tests.support import pythons

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.interpreters.model import Interpreter
    from tests.support.index import File, Index

__all__ = ["Part", "interpreter", "job", "part", "source_part"]

Part = tuple[Distribution, Origins]


def interpreter() -> Interpreter:
    """Return what the tests' base interpreter says of itself."""
    return discovery.inspect(pythons.base().path)


def part(index: Index, file: File, *, inputs: BuildInputs | None = None) -> Part:
    """Return one distribution of a recipe and where its file is.

    :param inputs: of an sdist's build.
    """
    content: Content
    if file.name.endswith(".whl"):
        name, version, _, _ = parse_wheel_filename(file.name)
        content = Wheel(file=file.name, sha256=file.sha256)
    else:
        name, version = parse_sdist_filename(file.name)
        content = Build(source=f"sha256:{file.sha256}", subdirectory=None, inputs=inputs or BuildInputs())
    located = locks.File(name=file.name, location=index.file_url(file.name), sha256=file.sha256)
    return (
        Distribution(name=name, version=str(version), content=content),
        Origins(name=name, file=located, index=index.url),
    )


def source_part(name: str, content: Content, origins: Origins, version: str | None = None) -> Part:
    """Return a distribution that comes from a directory or a repository."""
    return Distribution(name=name, version=version, content=content), origins


def job(
    parts: Iterable[Part],
    *,
    components: tuple[str, ...] = ("app.Actor",),
    settings: locks.BuildSettings | None = None,
    supply: dict[str, Any] | None = None,
    late_wheels: str | None = None,
    pending: tuple[str, ...] = (),
    **options: Any,
) -> Job:
    """Return a job for these distributions.

    :param supply: further fields of :class:`Supply`.
    :param options: further fields of :class:`Recipe`.
    """
    found = sorted(parts, key=lambda entry: entry[0].name)
    target = interpreter()
    recipe = Recipe(
        python=Python(
            path=target.path, implementation=target.implementation, version=target.version, abi=target.abi
        ),
        distributions=tuple(distribution for distribution, _ in found),
        **{"bytecode": False, **options},
    )
    return Job(
        key=keys.key(recipe),
        components=components,
        recipe=recipe,
        supply=Supply(
            origins=tuple(origins for _, origins in found),
            settings=settings or locks.BuildSettings(),
            **(supply or {}),
        ),
        interpreter=target,
        late_wheels=late_wheels,
        pending=pending,
    )
