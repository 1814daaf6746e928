"""Find modules and classes below a project's source roots, without importing anything."""

from __future__ import annotations

import os
from dataclasses import dataclass

from greenroom.checks import modules
from greenroom.checks.modules import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

__all__ = ["Module", "Sources", "modules_of", "roots_of"]

_COMPILED = (".so", ".pyd", ".pyx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module that was found."""

    name: str
    """Dotted name."""
    file: str
    compiled: bool
    """Whether there is no Python source to look into."""


def roots_of(directory: str, pyproject: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the directories that a project's packages are imported from, the likeliest first.

    The directory itself, ``src``, and what the usual build backends are told: setuptools'
    ``package-dir`` and ``packages.find.where``, hatchling's ``packages``, uv's ``module-root``,
    poetry's ``packages.from``, pdm's ``package-dir``.

    :param pyproject: the parsed ``pyproject.toml``; None: absent.
    """
    tool = _table(pyproject, "tool")
    found = [".", "src"]
    setuptools = _table(tool, "setuptools")
    found.extend(_strings(list(_table(setuptools, "package-dir").values())))
    found.extend(_strings(_table(setuptools, "packages", "find").get("where")))
    for target in _table(tool, "hatch", "build", "targets").values():
        packages = target.get("packages") if isinstance(target, dict) else None
        found.extend(os.path.dirname(package) or "." for package in _strings(packages))
    found.extend(_strings([_table(tool, "uv", "build-backend").get("module-root")]))
    for package in _table(tool, "poetry").get("packages") or ():
        found.extend(_strings([package.get("from")]) if isinstance(package, dict) else ())
    found.extend(_strings([_table(tool, "pdm", "build").get("package-dir")]))
    paths = (os.path.normpath(os.path.join(directory, path)) for path in found)
    return tuple(dict.fromkeys(path for path in paths if os.path.isdir(path)))


def _table(found: object, *path: str) -> dict[str, Any]:
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _strings(found: object) -> list[str]:
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


class Sources:
    """The modules below some roots; each directory is listed and each file parsed once."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self._listed: dict[str, frozenset[str]] = {}
        self._names: dict[str, modules.Names] = {}

    @property
    def looked(self) -> tuple[str, ...]:
        """Every directory that was listed and every file that was parsed so far."""
        return (*self._listed, *self._names)

    def find(self, name: str) -> Module | None:
        """Return the module of a dotted name, None when it is below none of the roots."""
        for root in self.roots:
            directory = root
            *parents, last = name.split(".")
            for part in parents:
                if part not in self._entries(directory):
                    break
                directory = os.path.join(directory, part)
            else:
                found = self._module(name, directory, last)
                if found is not None:
                    return found
        return None

    def packages(self) -> dict[str, str]:
        """Return the importable names directly below the roots, each with its path."""
        found: dict[str, str] = {}
        for root in self.roots:
            for entry in sorted(self._entries(root)):
                path = os.path.join(root, entry)
                name = entry.removesuffix(".py")
                if name.isidentifier() and (name != entry or self._is_package(path)):
                    found.setdefault(name, path)
        return found

    def neighbours(self, name: str) -> list[str]:
        """Return the dotted names of the modules beside a module that may not exist."""
        parent = name.rpartition(".")[0]
        found: list[str] = []
        for root in self.roots:
            directory = os.path.join(root, *parent.split(".")) if parent else root
            for entry in sorted(self._entries(directory)):
                stem = entry.removesuffix(".py")
                if stem.isidentifier() and stem != "__init__":
                    found.append(f"{parent}.{stem}" if parent else stem)
        return found

    def classes(self, module: Module) -> list[str]:
        """Return the names of the classes that a module defines itself, and what it imports by name.

        :raises Unparsable: it cannot be parsed.
        """
        names = self._of(module)
        return [name for name, kind in names.kinds if kind == Kind.CLASS] + [
            name for name, _ in names.imported
        ]

    def lacks(self, module: Module, path: Sequence[str], seen: frozenset[str] = frozenset()) -> str | None:
        """Tell why a module does not define a class.

        Re-exports are followed as long as they stay below the roots; what leads out of them, and what
        only running the module would tell, counts as defined.

        :param path: the class's name, or the names of nested classes.
        :returns: None when it does; else what it is instead: ``absent`` or ``function``.
        :raises Unparsable: a file on the way cannot be parsed.
        """
        if module.compiled or module.name in seen:
            return None
        seen |= {module.name}
        names = self._of(module)
        kind = dict(names.kinds).get(path[0])
        origin = dict(names.imported).get(path[0])
        if kind == Kind.CLASS:
            return self._nested(names, path)
        if origin is not None:
            return self._through(module, origin, path, seen)
        if kind is not None:
            return "function" if kind == Kind.FUNCTION else None
        if names.open or any(self._star_may_bring(module, star, path, seen) for star in names.stars):
            return None
        return "absent"

    def _nested(self, names: modules.Names, path: Sequence[str]) -> str | None:
        if len(path) == 1:
            return None
        body = dict(names.nested)[path[0]]
        return None if path[1] in body.names or body.inherits else "absent"

    def _through(
        self, module: Module, origin: tuple[str, str], path: Sequence[str], seen: frozenset[str]
    ) -> str | None:
        place, name = origin
        source = self.find(_absolute(module, place))
        return None if source is None else self.lacks(source, (name, *path[1:]), seen)

    def _star_may_bring(self, module: Module, star: str, path: Sequence[str], seen: frozenset[str]) -> bool:
        source = self.find(_absolute(module, star))
        return source is None or self.lacks(source, path, seen) is None

    def _of(self, module: Module) -> modules.Names:
        if module.file not in self._names:
            self._names[module.file] = modules.read(module.file)
        return self._names[module.file]

    def _module(self, name: str, directory: str, last: str) -> Module | None:
        entries = self._entries(directory)
        package = os.path.join(directory, last)
        if last in entries and "__init__.py" in self._entries(package):
            return Module(name=name, file=os.path.join(package, "__init__.py"), compiled=False)
        if f"{last}.py" in entries:
            return Module(name=name, file=os.path.join(directory, f"{last}.py"), compiled=False)
        for entry in sorted(entries):
            if entry.startswith(f"{last}.") and entry.endswith(_COMPILED):
                return Module(name=name, file=os.path.join(directory, entry), compiled=True)
        return None

    def _is_package(self, path: str) -> bool:
        """Tell whether a directory holds modules, or packages that do (PEP 420)."""
        entries = self._entries(path)
        inner = (self._entries(os.path.join(path, entry)) for entry in entries if entry.isidentifier())
        return any(entry.endswith(".py") for entry in entries) or any(
            "__init__.py" in found for found in inner
        )

    def _entries(self, directory: str) -> frozenset[str]:
        # Listed, not asked for: spelling counts also where the file system ignores case.
        if directory not in self._listed:
            try:
                self._listed[directory] = frozenset(os.listdir(directory))
            except OSError:
                self._listed[directory] = frozenset()
        return self._listed[directory]


def _absolute(module: Module, name: str) -> str:
    """Return the absolute name of a module that ``module`` imports (PEP 328)."""
    dots = len(name) - len(name.lstrip("."))
    if dots == 0:
        return name
    parts = module.name.split(".")
    if os.path.basename(module.file) == "__init__.py":
        dots -= 1
    return ".".join([*parts[: len(parts) - dots], *filter(None, [name.lstrip(".")])])


def modules_of(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield how a class's dotted name may be read: module, and class in it; nested classes last."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:cut]), tuple(parts[cut:])
