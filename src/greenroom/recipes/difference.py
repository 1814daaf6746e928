"""Say in words what makes one environment another."""

from __future__ import annotations

from dataclasses import fields

from greenroom.recipes.model import Build, BuildInputs, Editable, Late, Wheel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.recipes.model import Content, Distribution, Python, Recipe

__all__ = ["difference"]

_KINDS = {
    Wheel: "a wheel",
    Build: "built from source",
    Editable: "editable",
    Late: "brought by an image stage",
}


def difference(old: Recipe, new: Recipe) -> tuple[str, ...]:
    """Return what changed between two recipes, one line each: ``numpy 1.26 → 2.0``.

    Nothing is left out: recipes with different keys have at least one line.
    """
    lines = [*_pythons(old.python, new.python)]
    before = {one.name: one for one in old.distributions}
    after = {one.name: one for one in new.distributions}
    for name in sorted(before.keys() | after.keys()):
        lines.extend(_distributions(name, before.get(name), after.get(name)))
    if old.post_install != new.post_install:
        lines.append(f"post-install {_commands(old.post_install)} → {_commands(new.post_install)}")
    if old.last != new.last:
        lines.append(f"allow-clash {', '.join(old.last) or 'none'} → {', '.join(new.last) or 'none'}")
    if old.bytecode != new.bytecode:
        lines.append(f"bytecode is {'compiled' if new.bytecode else 'not compiled'} now")
    return tuple(lines)


def _pythons(old: Python, new: Python) -> Iterator[str]:
    if (old.implementation, old.version) != (new.implementation, new.version):
        yield f"{_python(old)} → {_python(new)}"
    elif old.abi != new.abi:
        yield f"the interpreter's ABI {old.abi} → {new.abi}"
    if old.system != new.system:
        yield f"the system {old.system} → {new.system}"
    if old.path != new.path:
        yield f"the interpreter {old.path} → {new.path}"


def _python(python: Python) -> str:
    name = "Python" if python.implementation == "cpython" else python.implementation
    return f"{name} {python.version}"


def _distributions(name: str, old: Distribution | None, new: Distribution | None) -> Iterator[str]:
    if old is None or new is None:
        there = old or new
        version = f" {there.version}" if there is not None and there.version else ""
        yield f"{name}{version} is {'gone' if new is None else 'new'}"
        return
    if old.version != new.version:
        yield f"{name} {old.version or 'of a local source'} → {new.version or 'of a local source'}"
    elif old.content != new.content:
        said = f"{name} {new.version}" if new.version else name
        yield from (f"{said}: {line}" for line in _contents(old.content, new.content))


def _contents(old: Content, new: Content) -> Iterator[str]:
    if isinstance(old, Wheel) and isinstance(new, Wheel):
        if old.file != new.file:
            yield f"another file, {old.file} → {new.file}"
        else:
            yield "the same file name with other content"
    elif isinstance(old, Build) and isinstance(new, Build):
        if (old.source, old.subdirectory) != (new.source, new.subdirectory):
            yield f"its source changed, {_source(old)} → {_source(new)}"
        yield from _inputs(old.inputs, new.inputs)
    elif isinstance(old, Editable) and isinstance(new, Editable):
        yield f"{old.path} → {new.path}"
    else:
        yield f"{_KINDS[type(old)]} → {_KINDS[type(new)]}"


def _source(build: Build) -> str:
    kind, _, digest = build.source.partition(":")
    place = f" in {build.subdirectory}" if build.subdirectory else ""
    return f"{kind} {digest[:12] or 'absent'}{place}"


def _inputs(old: BuildInputs, new: BuildInputs) -> Iterator[str]:
    words = {
        "requires": "build requirement",
        "constraints": "build constraint",
        "settings": "build setting",
        "variables": "build variable",
        "sees": "package that its build sees",
    }
    for field in fields(BuildInputs):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name in words and before != after:
            gone, come = (_listed(some) for some in (set(before) - set(after), set(after) - set(before)))
            yield f"{words[field.name]} {gone or 'none'} → {come or 'none'}"
    if old.isolated != new.isolated:
        yield f"built {'in isolation' if new.isolated else 'without isolation'} now"


def _listed(items: set[object]) -> str:
    said = sorted(_setting(item) if isinstance(item, tuple) else _short(str(item)) for item in items)
    return ", ".join(said[:3]) + (f" and {len(said) - 3} more" if len(said) > 3 else "")


def _setting(item: tuple[object, ...]) -> str:
    return f"{item[0]}={'(not set)' if item[1] is None else item[1]}"


def _short(item: str) -> str:
    """Return what a build sees with a readable digest."""
    name, at, digest = item.partition("@")
    return f"{name} ({digest[:12]})" if at and " " not in item and "/" not in item else item


def _commands(commands: tuple[tuple[str, ...], ...]) -> str:
    return "; ".join(" ".join(command) for command in commands) or "none"
