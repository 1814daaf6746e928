"""Make tiny wheels, sdists and source trees: the same bytes for the same input."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.backend import be

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.support.gate import Gate

__all__ = ["normalized", "sdist", "source_files", "wheel", "write_source"]

Content = str | bytes
BACKEND = Path(be.__file__).read_bytes()


def normalized(name: str) -> str:
    """Return the name's normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _module(name: str) -> str:
    return normalized(name).replace("-", "_")


def _encoded(files: Mapping[str, Content]) -> dict[str, bytes]:
    return {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}


def _with_default_module(
    name: str, version: str, files: Mapping[str, Content], *, bare: bool
) -> dict[str, bytes]:
    initial = {} if bare else {f"{_module(name)}/__init__.py": f'__version__ = "{version}"\n'}
    return _encoded({**initial, **files})


def _entry_points(
    scripts: Mapping[str, str], entry_points: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    groups = {group: dict(entries) for group, entries in entry_points.items()}
    if scripts:
        groups["console_scripts"] = groups.get("console_scripts", {}) | dict(scripts)
    return groups


def wheel(
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    extras: Mapping[str, Sequence[str]] | None = None,
    files: Mapping[str, Content] | None = None,
    bare: bool = False,
    tag: str = "py3-none-any",
    build: str | None = None,
    scripts: Mapping[str, str] | None = None,
    entry_points: Mapping[str, Mapping[str, str]] | None = None,
    data: Mapping[str, str] | None = None,
    requires_python: str | None = None,
    unrecorded: Sequence[str] = (),
    recorded_as: Mapping[str, str] | None = None,
) -> tuple[str, bytes, str]:
    """Return a wheel as file name, content and its METADATA.

    :param files: path below site-packages to content; ``<module>/__init__.py`` with
        ``__version__`` is there unless ``bare``.
    :param scripts: console scripts, ``{"tool": "module:function"}``.
    :param data: path below ``.data/`` to text, for example ``scripts/x``, ``data/share/y``.
    :param unrecorded: files without a row in RECORD.
    :param recorded_as: path to the row that RECORD has instead.
    """
    about: dict[str, Any] = {
        "name": name,
        "version": version,
        "tag": tag,
        "requires": list(requires),
        "extras": {extra: list(lines) for extra, lines in (extras or {}).items()},
        "entry_points": _entry_points(scripts or {}, entry_points or {}),
        "data": dict(data or {}),
        "requires_python": requires_python,
        "unrecorded": list(unrecorded),
        "recorded_as": dict(recorded_as or {}),
    }
    content = be.wheel_bytes(about, _with_default_module(name, version, files or {}, bare=bare))
    middle = f"-{build}" if build else ""
    return f"{_module(name)}-{version}{middle}-{tag}.whl", content, be.metadata_text(about)


def source_files(
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    build_requires: Sequence[str] = (),
    extras: Mapping[str, Sequence[str]] | None = None,
    files: Mapping[str, Content] | None = None,
    bare: bool = False,
    tag: str = "py3-none-any",
    scripts: Mapping[str, str] | None = None,
    requires_python: str | None = None,
    reads: Sequence[str] = (),
    imports: Sequence[str] = (),
    prints: Sequence[str] = (),
    sleeps: float = 0,
    gate: Gate | None = None,
    fails: str = "",
    pyproject: str = "",
) -> dict[str, bytes]:
    """Return a source tree with its own build backend, path to content.

    :param files: path below ``src/`` to content; all of ``src/`` goes into the wheel.
    :param build_requires: ``[build-system] requires``.
    :param reads: variables whose values at build time stand in ``<module>._built.VARIABLES``.
    :param imports: modules that the build imports; versions in ``<module>._built.AGAINST``.
    :param sleeps: seconds; prefer ``gate``.
    :param gate: where each build stands until the test opens it.
    :param fails: what the build says on stderr before it exits with 1.
    :param pyproject: further tables for ``pyproject.toml``.
    """
    about = {
        "name": name,
        "version": version,
        "module": _module(name),
        "tag": tag,
        "requires": list(requires),
        "extras": {extra: list(lines) for extra, lines in (extras or {}).items()},
        "entry_points": _entry_points(scripts or {}, {}),
        "requires_python": requires_python,
        "reads": list(reads),
        "imports": list(imports),
        "prints": list(prints),
        "sleeps": sleeps,
        "gate": gate.port if gate else None,
        "fails": fails,
    }
    code = _with_default_module(name, version, files or {}, bare=bare)
    return {
        "pyproject.toml": _pyproject(about, build_requires, pyproject).encode(),
        "be.py": BACKEND,
        "be.json": (json.dumps(about, indent=1) + "\n").encode(),
        **{f"src/{path}": content for path, content in code.items()},
    }


def _pyproject(about: Mapping[str, Any], build_requires: Sequence[str], more: str) -> str:
    lines = ["[project]", f'name = "{about["name"]}"', f'version = "{about["version"]}"']
    if about["requires_python"]:
        lines.append(f'requires-python = "{about["requires_python"]}"')
    lines.append(f"dependencies = {json.dumps(about['requires'])}")
    if about["extras"]:
        lines.append("[project.optional-dependencies]")
        lines += [f"{extra} = {json.dumps(requires)}" for extra, requires in about["extras"].items()]
    lines += ["[build-system]", f"requires = {json.dumps(list(build_requires))}", 'build-backend = "be"']
    lines.append('backend-path = ["."]')
    return "\n".join(lines) + "\n" + more


def sdist(name: str, version: str, **options: Any) -> tuple[str, bytes, str]:
    """Return an sdist as file name, content and its PKG-INFO.

    :param options: as for :func:`source_files`.
    """
    files = source_files(name, version, **options)
    about = json.loads(files["be.json"])
    metadata = be.metadata_text(about).replace("Metadata-Version: 2.1", "Metadata-Version: 2.2")
    stem = f"{_module(name)}-{version}"
    target = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=target, mode="wb", filename="", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in {"PKG-INFO": metadata.encode(), **files}.items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size, entry.mtime, entry.mode = len(content), 1577836800, 0o644
            archive.addfile(entry, io.BytesIO(content))
    return f"{stem}.tar.gz", target.getvalue(), metadata


def write_source(directory: Path, name: str, version: str, **options: Any) -> Path:
    """Write a local source with its own build backend.

    :param options: as for :func:`source_files`.
    :returns: ``directory``.
    """
    for path, content in source_files(name, version, **options).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return directory
