"""Evaluate environment markers, thousands of them, with uv's conflict markers among them.

A lock's markers are few distinct comparisons in many combinations, some of them kilobytes long.
So a marker is parsed once into its comparisons, and a comparison is evaluated once for each
target, by the reference implementation. Grammar: the PyPA specification «Dependency specifiers»;
``extras`` and ``dependency_groups``: PEP 751.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from greenroom.components import Pairs

    Tree = str | tuple[str, tuple["Tree", ...]]

__all__ = ["Target", "atoms", "conflict_item", "evaluate", "parse", "split", "target"]

_VALUE = r"""(?:'[^']*'|"[^"]*"|[A-Za-z_][A-Za-z0-9_.]*)"""
_OPERATOR = r"(?:===|==|~=|!=|<=|>=|<|>|not\s+in\b|in\b)"
_TOKEN = re.compile(rf"\s*(?:(?P<atom>{_VALUE}\s*{_OPERATOR}\s*{_VALUE})|(?P<word>\(|\)|and\b|or\b))")
_ATOM = re.compile(rf"({_VALUE})\s*({_OPERATOR})\s*({_VALUE})")
_SETS = {"extra": "extras", "extras": "extras", "dependency_groups": "groups"}


def conflict_item(package: str, *, extra: str | None = None, group: str | None = None) -> str:
    """Return the name under which uv's locks ask whether an extra, group or project is active."""
    if extra is not None:
        return f"extra-{len(package)}-{package}-{extra}"
    if group is not None:
        return f"group-{len(package)}-{package}-{group}"
    return f"project-{len(package)}-{package}"


@cache
def parse(marker: str) -> Tree:
    """Return a marker's structure: a comparison, or ``("and" | "or", parts)``.

    :raises ValueError: the text is no marker.
    """
    tokens, position = [], 0
    text = marker.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _no_marker(marker)
        tokens.append(match["atom"] or match["word"])
        position = match.end()
    try:
        tree, rest = _alternatives(tokens, 0)
    except (IndexError, RecursionError) as error:
        raise _no_marker(marker) from error
    if rest != len(tokens):
        raise _no_marker(marker)
    return tree


def _no_marker(text: str) -> ValueError:
    return ValueError(f"not a marker: {text[:80]!r}")


def _alternatives(tokens: list[str], at: int) -> tuple[Tree, int]:
    return _joined(tokens, at, "or", lambda here: _joined(tokens, here, "and", lambda it: _one(tokens, it)))


def _joined(
    tokens: list[str], at: int, word: str, read: Callable[[int], tuple[Tree, int]]
) -> tuple[Tree, int]:
    tree, at = read(at)
    parts = [tree]
    while at < len(tokens) and tokens[at] == word:
        tree, at = read(at + 1)
        parts.append(tree)
    return (parts[0] if len(parts) == 1 else (word, tuple(parts))), at


def _one(tokens: list[str], at: int) -> tuple[Tree, int]:
    word = tokens[at]
    if word == "(":
        tree, at = _alternatives(tokens, at + 1)
        if tokens[at] == ")":
            return tree, at + 1
    elif word not in {")", "and", "or"}:
        return word, at + 1
    raise IndexError(at)


def evaluate(tree: Tree, truth: Callable[[str], bool]) -> bool:
    """Return a marker's value, given the value of each comparison."""
    if isinstance(tree, str):
        return truth(tree)
    word, parts = tree
    if word == "or":
        return any(evaluate(part, truth) for part in parts)
    return all(evaluate(part, truth) for part in parts)


def atoms(tree: Tree) -> set[tuple[str, str, str]]:
    """Return every comparison of a marker as left side, operator and right side, quotes kept."""
    if isinstance(tree, str):
        return {split(tree)}
    return {atom for part in tree[1] for atom in atoms(part)}


@cache
def split(atom: str) -> tuple[str, str, str]:
    """Return the left side, the operator and the right side of one comparison."""
    match = _ATOM.fullmatch(atom)
    if match is None:
        raise _no_marker(atom)
    return match[1], " ".join(match[2].split()), match[3]


class Target:
    """One marker environment, with the value of each comparison remembered."""

    def __init__(self, environment: Pairs) -> None:
        self.environment = dict(environment)
        self._plain: dict[str, bool] = {}

    def holds(self, marker: str | None, *, extras: Iterable[str] = (), groups: Iterable[str] = ()) -> bool:
        """Return whether a marker holds here.

        :param extras: what ``extra == …`` and ``… in extras`` are true for.
        :param groups: what ``… in dependency_groups`` is true for.
        :raises ValueError: the text is no marker.
        """
        if not marker:
            return True
        sets = {"extras": extras, "groups": groups}
        return evaluate(parse(marker), lambda atom: self._truth(atom, sets))

    def _truth(self, atom: str, sets: dict[str, Iterable[str]]) -> bool:
        known = self._plain.get(atom)
        if known is not None:
            return known
        left, operator, right = split(atom)
        for variable, value in ((left, right), (right, left)):
            if variable in _SETS:
                return (_literal(value) in sets[_SETS[variable]]) is (operator in {"==", "in", "==="})
        known = self._plain[atom] = self._compare(atom)
        return known

    def _compare(self, atom: str) -> bool:
        try:
            return Marker(atom).evaluate(dict(self.environment))
        except UndefinedComparison:
            return False  # as uv: a comparison without meaning is never true
        except (InvalidMarker, UndefinedEnvironmentName) as error:
            raise _no_marker(atom) from error


@lru_cache(maxsize=64)
def target(environment: Pairs) -> Target:
    """Return the one target for a marker environment, so that its memory is shared."""
    return Target(environment)


def _literal(value: str) -> str:
    return value[1:-1] if value[:1] in {"'", '"'} else value
