"""Tell which names a module binds at its top level: parsed, never imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Kind", "Names", "Nested", "Unparsable", "read"]


class Kind:
    """What stands behind a name, as far as a parser sees."""

    CLASS = "class"
    FUNCTION = "function"
    OTHER = "other"
    """An assignment, a loop, an ``import``: it may be a class."""


class Unparsable(Exception):
    """A file is no Python that this interpreter can parse; ``line`` is 0 where not known."""

    def __init__(self, file: str, reason: str, line: int) -> None:
        self.file, self.reason, self.line = file, reason, line
        super().__init__(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """The body of a class."""

    names: frozenset[str]
    inherits: bool
    """Whether names may come from a base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a module binds at its top level."""

    kinds: tuple[tuple[str, str], ...]
    """Name -> one of the words of :class:`Kind`; a class wins over other bindings."""
    imported: tuple[tuple[str, tuple[str, str]], ...]
    """Name -> module and name that it is imported from (``from module import name``)."""
    stars: tuple[str, ...]
    """Modules of ``from module import *``."""
    open: bool
    """Whether names may come that no parser sees: a module's ``__getattr__``, ``globals()``."""
    nested: tuple[tuple[str, Nested], ...]
    """Class -> its body."""


def read(file: str) -> Names:
    """Return what a source file binds at its top level, also below ``if``, ``try`` and ``with``.

    :raises Unparsable: it cannot be read or parsed.
    """
    try:
        with open(file, "rb") as stream:
            tree = ast.parse(stream.read(), file)
    except SyntaxError as error:
        raise Unparsable(file, error.msg, error.lineno or 0) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(file, str(error) or "nested too deeply", 0) from error
    except OSError as error:
        raise Unparsable(file, error.strerror or str(error), 0) from error
    collector = _Collector()
    collector.take(tree.body)
    return Names(
        kinds=tuple(collector.kinds.items()),
        imported=tuple(collector.imported.items()),
        stars=tuple(collector.stars),
        open=collector.open,
        nested=tuple(collector.nested.items()),
    )


class _Collector:
    """Walks statements outside of functions; what several statements bind counts from each."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.stars: list[str] = []
        self.nested: dict[str, Nested] = {}
        self.open = False

    def take(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            self._take_one(node)

    def _take_one(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            inner = _Collector()
            inner.take(node.body)
            names = frozenset({*inner.kinds, *inner.imported})
            self.nested[node.name] = Nested(names=names, inherits=bool(node.bases))
            self._bind(node.name, Kind.CLASS)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.open |= node.name == "__getattr__"
            self._bind(node.name, Kind.FUNCTION)
        elif isinstance(node, ast.ImportFrom):
            self._import(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self._bind(alias.asname or alias.name.partition(".")[0], Kind.OTHER)
        else:
            for name in _bound(node):
                self._bind(name, Kind.OTHER)
            self.open |= _binds_unseen(node)
            for body in _bodies(node):
                self.take(body)

    def _import(self, node: ast.ImportFrom) -> None:
        place = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(place)
            else:
                self.imported[alias.asname or alias.name] = (place, alias.name)

    def _bind(self, name: str, kind: str) -> None:
        # `try: from x import C / except ImportError: class C` binds C twice: a class wins, then the
        # import, which says more than `C = None`.
        if self.kinds.get(name) != Kind.CLASS:
            self.kinds[name] = kind


def _bound(node: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(
        node, ast.For | ast.AsyncFor
    ):
        targets = [node.target]
    elif isinstance(node, ast.With | ast.AsyncWith):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    for target in targets:
        yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _binds_unseen(node: ast.stmt) -> bool:
    """Tell whether a statement may bind names by ``globals()[…] = …`` or ``setattr(module, …)``."""
    if not isinstance(node, ast.Assign | ast.Expr):
        return False
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in {"globals", "setattr"} for called in calls)


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, None)
        if isinstance(body, list):
            yield body
    for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield branch.body
