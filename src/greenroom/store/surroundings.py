"""Look at what stands around an environment's packages: its configuration, scripts, tags, names."""

from __future__ import annotations

import os

from greenroom.recipes.model import Wheel
from greenroom.store import machine
from greenroom.store.model import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from greenroom.recipes.model import Python, Recipe
    from greenroom.store.rows import Found

__all__ = ["config", "configuration", "console_script", "libc", "private_names"]

_TEXT = 1 << 20
"""Bytes: what is larger under ``bin`` is a program, and no text that uv wrote."""


def configuration(root: str) -> dict[str, str]:
    """Return the values of ``pyvenv.cfg`` (PEP 405), empty when it cannot be read."""
    try:
        with open(f"{root}/pyvenv.cfg", encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines)
    return {name.strip().lower(): value.strip() for name, dash, value in pairs if dash}


def config(root: str, python: Python) -> tuple[Finding, ...]:
    """Return what ``pyvenv.cfg`` and ``bin/python`` say that the recipe does not."""
    found = configuration(root)
    if not found:
        return (Finding(kind="config", path="pyvenv.cfg", message="is missing or empty"),)
    home = os.path.dirname(python.path)
    wrong = []
    if found.get("relocatable") != "true":
        wrong.append("does not say relocatable = true: the environment was replaced by another tool")
    if os.path.realpath(found.get("home", "")) != os.path.realpath(home):
        wrong.append(f"says home = {found.get('home')}, not {home}")
    version = found.get("version_info") or found.get("version", "")
    if version != python.version:
        wrong.append(f"says version {version}, not {python.version}")
    if os.path.realpath(f"{root}/bin/python") != os.path.realpath(python.path):
        wrong.append(f"bin/python is not a link to {python.path}")
    return tuple(Finding(kind="config", path="pyvenv.cfg", message=message) for message in wrong)


def console_script(root: str) -> str | None:
    """Return the path, relative to ``root``, of one script in ``bin`` that starts Python."""
    for path, text in _texts(f"{root}/bin"):
        head = text[:4096]
        if head.startswith(b"#!") and (b"python" in head.partition(b"\n")[0] or b"\n'''exec'" in head):
            return os.path.relpath(path, root)
    return None


def private_names(root: str, site: str, found: Sequence[Found], private: str | None) -> tuple[Finding, ...]:
    """Return the texts that still name the private directory of the build.

    Its last part is looked for, which is unique: relative paths name it too.
    """
    if private is None:
        return ()
    name = os.fsencode(os.path.basename(private))
    return tuple(
        Finding(
            kind="private", path=os.path.relpath(path, root), message="names the build's private directory"
        )
        for path, text in _places(root, site, found)
        if name in text
    )


def libc(root: str, recipe: Recipe, found: Sequence[Found]) -> str:
    """Return the lowest glibc that the environment's binaries need: ``2.28``, or empty.

    Wheels of an index say it in their names. What was built on this machine without such a tag
    needs what this machine has, unless it is pure Python.
    """
    wheels = {
        item.name: item.content.file for item in recipe.distributions if isinstance(item.content, Wheel)
    }
    needed = [machine.libc_needed([file]) for file in wheels.values()]
    for one in found:
        if one.name not in wheels:
            tags = _tags(f"{root}/{one.info}/WHEEL")
            ours = machine.libc_version() if any("-linux_" in tag for tag in tags) else None
            needed.append(machine.libc_needed(tags) or ours)
    highest = max((version for version in needed if version), default=None)
    return f"{highest[0]}.{highest[1]}" if highest else ""


def _tags(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.partition(":")[2].strip() for line in file if line.startswith("Tag:")]
    except OSError:
        return []


def _places(root: str, site: str, found: Sequence[Found]) -> Iterator[tuple[str, bytes]]:
    yield from _texts(f"{root}/bin")
    yield from _texts(f"{root}/{site}", ".pth")
    for item in found:
        yield from _text(f"{root}/{item.info}/direct_url.json")
    yield from _text(f"{root}/pyvenv.cfg")


def _texts(directory: str, ending: str = "") -> Iterator[tuple[str, bytes]]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        if name.endswith(ending):
            yield from _text(f"{directory}/{name}")


def _text(path: str) -> Iterator[tuple[str, bytes]]:
    try:
        if os.path.islink(path) or os.path.getsize(path) > _TEXT:
            return
        with open(path, "rb") as file:
            yield path, file.read()
    except OSError:
        return
