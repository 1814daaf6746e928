"""Tell whether markers that are spelt differently mean the same.

uv writes a marker in its own normal form, simplified by what the lock requires anyway. So two
markers are compared by their values at every point that their comparisons can tell apart: each
literal, its neighbours where versions are compared, and one value that no literal names.
"""

from __future__ import annotations

from functools import cache
from itertools import islice, product

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from greenroom.locks.markers import atoms, evaluate, parse, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from greenroom.locks.markers import Tree

__all__ = ["conjunction", "disjunction", "equivalent", "negation", "satisfiable", "tree_of", "versions"]

TRUE: Tree = ("and", ())
FALSE: Tree = ("or", ())
_POINTS = 20_000
"""Points beyond this are not looked at; a real marker has a few dozen."""
_PYTHON = frozenset({"python_version", "python_full_version"})
_OTHER = "any-other-value"
_OPPOSITE = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "in": "not in",
    "not in": "in",
}


def conjunction(*trees: Tree) -> Tree:
    """Return the tree that holds where all hold."""
    return ("and", trees)


def disjunction(*trees: Tree) -> Tree:
    """Return the tree that holds where one holds."""
    return ("or", trees)


def negation(tree: Tree) -> Tree:
    """Return the tree that holds where another does not.

    :raises ValueError: it compares with ``~=`` or ``===``, which have no opposite.
    """
    if not isinstance(tree, str):
        word, parts = tree
        return ("and" if word == "or" else "or", tuple(negation(part) for part in parts))
    left, operator, right = split(tree)
    if operator not in _OPPOSITE:
        msg = f"no opposite of {tree!r}"
        raise ValueError(msg)
    return f"{left} {_OPPOSITE[operator]} {right}"


def equivalent(one: Tree, other: Tree, requires_python: str | None) -> bool:
    """Return whether two trees hold at the same points, as far as ``requires_python`` goes."""
    return one == other or all(
        evaluate(one, truth) == evaluate(other, truth) for truth in _points((one, other), requires_python)
    )


def satisfiable(tree: Tree, requires_python: str | None) -> bool:
    """Return whether a tree holds anywhere."""
    return any(evaluate(tree, truth) for truth in _points((tree,), requires_python))


def versions(literals: Iterable[str]) -> tuple[str, ...]:
    """Return the versions that comparisons with some literals can tell apart."""
    found: set[tuple[int, int, int]] = {(3, 0, 0), (3, 99, 0)}
    for literal in literals:
        try:
            release = Version(literal.removesuffix(".*")).release
        except InvalidVersion:
            continue
        major, minor, micro = (*release, 0, 0)[:3]
        before = (major, minor, micro - 1) if micro else (major, max(minor - 1, 0), 99)
        found.update({before, (major, minor, micro), (major, minor, micro + 1), (major, minor + 1, 0)})
    return tuple(".".join(map(str, point)) for point in sorted(found))


class _Point:
    """The value of each comparison at one point; called by :func:`evaluate`."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def __call__(self, atom: str) -> bool:
        """Return the comparison's value."""
        variable = _variable(atom)
        return _compare(atom, variable, self.values[variable]) if variable else _compare(atom, "extra", "")


def _points(trees: Iterable[Tree], requires_python: str | None) -> Iterator[_Point]:
    literals: dict[str, set[str]] = {}
    for tree in trees:
        for left, _, right in atoms(tree):
            for variable, literal in ((left, right), (right, left)):
                if not variable.startswith(("'", '"')):
                    key = "python" if variable in _PYTHON else variable
                    literals.setdefault(key, set()).add(literal.strip("'\""))
    choices = [
        [(name, value) for value in _values(name, literals[name], requires_python)]
        for name in sorted(literals)
    ]
    for chosen in islice(product(*choices), _POINTS):
        values = dict(chosen)
        if "python" in values:
            values["python_full_version"] = values["python"]
            values["python_version"] = ".".join(values["python"].split(".")[:2])
        yield _Point(values)


def _values(name: str, literals: set[str], requires_python: str | None) -> tuple[str, ...]:
    if name in {"python", "implementation_version"}:
        if name == "python" and requires_python:
            required = SpecifierSet(requires_python)
            found = versions(literals | {one.version for one in required})
            return tuple(required.filter(found, prereleases=True))
        return versions(literals)
    words = {word for literal in literals for word in (literal, *literal.replace(",", " ").split())}
    return (*sorted(words), _OTHER)


@cache
def _variable(atom: str) -> str:
    left, _, right = split(atom)
    return next((side for side in (left, right) if not side.startswith(("'", '"'))), "")


@cache
def _compare(atom: str, variable: str, value: str) -> bool:
    if variable == "extra":
        left, operator, right = split(atom)
        literal = (right if left == "extra" else left).strip("'\"")
        return (literal.replace("_", "-").replace(".", "-").lower() == value) is (operator == "==")
    try:
        return Marker(atom).evaluate({variable: value})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return False


def tree_of(marker: str | None) -> Tree:
    """Return a marker's tree; an absent one holds everywhere.

    :raises ValueError: the text is no marker.
    """
    return parse(marker) if marker else TRUE
