"""List the environments to pre-build: one row for each actor that has one.

Runs as a bare script (``python -I -S actor_environments.py``) where only the declaration,
``pyproject.toml`` and ``uv.lock`` exist, and as ``greenroom.actor_environments``. It imports the
standard library only and never executes a project's code. A project may copy this file and fill in
the two tables below (the copy is then the declaration), or call :func:`main` with a table of its own.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ast import AST, Dict
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Parser = Callable[[str], dict[str, object]]
    Table = dict[str, object]

__all__ = [
    "Actor",
    "Fault",
    "Raw",
    "actors",
    "content",
    "document",
    "find",
    "load",
    "main",
    "normalized",
    "source",
]

ACTOR_ENVIRONMENTS: dict[str, list[str] | None] = {}
"""Actor (fully qualified class name) -> extras of the uv project, or None: the driver's interpreter."""
STAGES: dict[str, list[str]] = {}
"""Image stage -> the extras that only it can finish, in the order of the layers."""

USAGE = """\
usage: actor_environments.py [STAGE] [EXTRA...] [options]

List the actors that need an environment: name, stage and `uv sync` arguments, tab-separated.

  STAGE               a declared stage, `deps` (what no stage claims), or `all` (the default)
  EXTRA...            skip every actor that needs one of these extras
  --actors NAME...    only these actors
  --distinct          one row for each distinct environment, with all its actors
  --format FORMAT     rows (the default), json, or github-matrix
  --declaration FILE  greenroom.toml, pyproject.toml, or a Python file with ACTOR_ENVIRONMENTS
"""
LIMIT = 10_000_000
"""Bytes: what is larger is no declaration and is refused before it is parsed."""
SOURCE_KEYS = ("project", "package", "pylock", "requirements", "dependencies", "script", "extras", "groups")
LAUNCH_KEYS = ("env", "env-file")
OPTION_KEYS = (
    *("environment", "constraints", "overrides", "build-constraints", "default-groups", "python", "index"),
    *("build-env", "no-build-isolation", "install-local", "late-packages", "compile-bytecode", "link-mode"),
    *("allow-clash", "post-install", "smoke", "prerelease", "index-strategy"),
)
SPEC_KEYS = frozenset(SOURCE_KEYS + OPTION_KEYS + LAUNCH_KEYS)
"""All that an actor's table may say."""
FIRST_STAGE = "deps"
TABLES = ("ACTOR_ENVIRONMENTS", "STAGES")
CHANGERS = ("update", "setdefault", "pop", "popitem", "clear")


class Fault(Exception):
    """What is wrong with a declaration and where; ``kind`` says which error it becomes."""

    def __init__(self, kind: str, what: str, file: str, line: int = 0, todo: str = "") -> None:
        self.kind, self.what, self.file, self.line, self.todo = kind, what, file, line, todo
        self.name = ""
        self.path: tuple[str, ...] = ()
        super().__init__(what)

    def __str__(self) -> str:
        """Return one line: file and line, what, what to do."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        text = " ".join(f"{place}: {self.what}{f' ({self.todo})' if self.todo else ''}".split())
        if "@" in text:  # what is quoted may be a URL with credentials
            import re  # noqa: PLC0415 - only when something is wrong

            text = re.sub(r"(?<=:/)(/?)[^/\s'\"]*@", r"\1***@", text)
        return text


class Raw:
    """A declaration's tables as they are written, unchecked; ``prefix`` leads to them in the document."""

    __slots__ = ("file", "prefix", "root", "table", "text")

    def __init__(self, file: str, text: str, table: dict[str, object], prefix: tuple[str, ...] = ()) -> None:
        self.file, self.text, self.table, self.prefix = file, text, table, prefix
        self.root = os.path.dirname(file)

    def section(self, name: str) -> dict[str, object]:
        """Return a table of the declaration, empty when it is absent.

        :raises Fault: it is no table.
        """
        value = self.table.get(name, {})
        if not isinstance(value, dict):
            raise Fault("value", f"[{name}] must be a table", self.file, self.line(name))
        return value

    def line(self, word: str) -> int:
        """Return the first line that starts with this key or header, 0 when none does."""
        lines = enumerate(self.text.splitlines(), 1)
        return next((n for n, line in lines if line.lstrip("[ \t\"'").startswith(word)), 0)


class Actor:
    """One entry of the actors' table: ``line`` is known for a registry's, ``path`` leads to a document's."""

    __slots__ = ("file", "line", "name", "path", "value")

    def __init__(
        self, name: str, value: object, file: str, line: int = 0, path: tuple[str, ...] = ()
    ) -> None:
        self.name, self.value, self.file, self.line, self.path = name, value, file, line, path

    def fault(self, raw: Raw, kind: str, what: str, todo: str = "", name: str = "") -> Fault:
        """Return what is wrong with this entry, or with the key of this name in it."""
        line = self.line or raw.line(self.name) or raw.line(self.path[-1] if self.path else self.name)
        fault = Fault(kind, f"actor {self.name!r} {what}", self.file, line, todo)
        fault.name, fault.path = name or self.name, (*self.path, *([name] if name else []))
        return fault


def normalized(name: str) -> str:
    """Return the form in which extras, groups and packages are compared (PEP 503, PEP 685)."""
    return "-".join(part for part in name.replace("_", "-").replace(".", "-").lower().split("-") if part)


def content(path: str) -> bytes:
    """Return the bytes of a file of the declaration.

    :raises Fault: it is absent, no regular file, not readable, or larger than 10 MB.
    """
    from stat import S_ISREG  # noqa: PLC0415 - os has it loaded

    try:
        found = os.stat(path)  # before it is opened: a pipe would wait for its writer
        if not S_ISREG(found.st_mode):
            raise Fault("unreadable", "is no regular file", path)
        if found.st_size > LIMIT:
            raise Fault("unreadable", f"is larger than {LIMIT // 10**6} MB, which no declaration is", path)
        with open(path, "rb") as stream:
            return stream.read(LIMIT)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise Fault("unreadable", f"cannot be read: {getattr(error, 'strerror', error)}", path) from error


def _tomllib(path: str) -> Parser:
    try:
        from tomllib import loads  # noqa: PLC0415 - Python 3.10 has none
    except ImportError as error:
        what = "Python {}.{} has no tomllib to read TOML with".format(*sys.version_info)
        todo = "use Python 3.11 or newer, or a Python registry with --declaration"
        raise Fault("unreadable", what, path, todo=todo) from error
    return loads


def document(path: str, parse: Parser | None = None) -> tuple[str, Table]:
    """Return a TOML file's text and content.

    :param parse: a TOML parser; None: tomllib's.
    :raises Fault: it cannot be read, or is not valid.
    """
    data = content(path)
    try:
        text = data.decode("utf-8-sig")  # editors write a byte order mark, which no parser takes
        return text, (parse or _tomllib(path))(text)
    except UnicodeDecodeError as error:
        raise Fault("unreadable", "is not UTF-8", path, data.count(b"\n", 0, error.start) + 1) from error
    except RecursionError as error:
        raise Fault("unreadable", "is nested too deeply", path) from error
    except ValueError as error:  # also a number of too many digits
        what, _, place = str(error).partition(" (at ")
        number = place.partition("line ")[2].partition(",")[0]
        line = int(number) if number.isdigit() else text.count("\n") + 1 if place else 0
        raise Fault("unreadable", f"is not valid TOML: {what}", path, line) from error


def _own(document: dict[str, object]) -> dict[str, object] | None:
    tool = document.get("tool")
    own = tool.get("greenroom") if isinstance(tool, dict) else None
    return own if isinstance(own, dict) else None


def find(start: str) -> str | None:
    """Return the nearest declaration from a directory upwards, None when there is none.

    In each directory ``greenroom.toml`` counts, else a ``pyproject.toml`` with ``[tool.greenroom]``.

    :raises Fault: a ``pyproject.toml`` on the way names greenroom and cannot be read.
    """
    directory = os.path.realpath(start)
    while True:
        path = os.path.join(directory, "greenroom.toml")
        if os.path.lexists(path):
            return path
        path = os.path.join(directory, "pyproject.toml")
        if os.path.isfile(path) and b"greenroom" in content(path) and _own(document(path)[1]) is not None:
            return path
        directory, last = os.path.dirname(directory), directory
        if directory == last:
            return None


def load(path: str, parse: Parser | None = None) -> Raw:
    """Read a declaration's tables without checking them.

    :param path: ``greenroom.toml``, ``pyproject.toml`` or a Python file with ``ACTOR_ENVIRONMENTS``.
    :param parse: a TOML parser; None: tomllib's.
    :raises Fault: it cannot be read, or its Python tables are no literals.
    """
    path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    if path.endswith(".py"):
        stages = {name: {"extras": value} for name, (value, _) in _literals(path).get("STAGES", {}).items()}
        return Raw(path, "", {"registry": path, "stages": stages})
    text, table = document(path, parse)
    if os.path.basename(path) != "pyproject.toml":
        return Raw(path, text, table)
    own = _own(table)
    if own is None:
        raise Fault("unreadable", "has no table [tool.greenroom]", path)
    return Raw(path, text, own, ("tool", "greenroom"))


def _outside_functions(nodes: Iterable[AST]) -> Iterator[AST]:
    import ast  # noqa: PLC0415 - only where a registry is

    for node in nodes:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield node
            yield from _outside_functions(ast.iter_child_nodes(node))


def _not_literal(path: str, node: AST | None, what: str) -> Fault:
    todo = "write it as one dict of lists of strings or None: it is read, never executed"
    return Fault("literal", what, path, getattr(node, "lineno", 0), todo)


def _changed_table(node: AST) -> str:
    """Return the name that a node subscripts for writing or changes by a method, empty for none."""
    import ast  # noqa: PLC0415 - only where a registry is

    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return getattr(node.value, "id", "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
        return getattr(node.func.value, "id", "")
    return ""


def _literals(path: str) -> dict[str, dict[str, tuple[object, int]]]:
    """Return a Python file's literal tables, each value with its line, without executing it."""
    import ast  # noqa: PLC0415 - only where a registry is

    try:
        body = ast.parse(content(path), path).body
        nodes = list(_outside_functions(body))
    except SyntaxError as error:
        raise Fault("unreadable", f"is not valid Python: {error.msg}", path, error.lineno or 0) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Fault("unreadable", "is not valid Python: NUL bytes or too deep nesting", path) from error
    values: dict[AST, AST | None] = {n.target: n.value for n in body if isinstance(n, ast.AnnAssign)}
    values |= {n.targets[0]: n.value for n in body if isinstance(n, ast.Assign) and len(n.targets) == 1}
    found: dict[str, dict[str, tuple[object, int]]] = {}
    for node in nodes:
        if _changed_table(node) in TABLES:
            raise _not_literal(path, node, f"{_changed_table(node)} is changed here")
        if not isinstance(node, ast.Name) or node.id not in TABLES or isinstance(node.ctx, ast.Load):
            continue
        value = values.get(node)
        if node.id in found or not isinstance(value, ast.Dict):
            raise _not_literal(
                path, node, f"{node.id} is {'assigned twice' if node.id in found else 'no dict'}"
            )
        found[node.id] = _literal_dict(path, value)
    if "ACTOR_ENVIRONMENTS" not in found:
        raise _not_literal(path, None, "has no ACTOR_ENVIRONMENTS")
    return found


def _literal_dict(path: str, table: Dict) -> dict[str, tuple[object, int]]:
    import ast  # noqa: PLC0415 - only where a registry is

    found: dict[str, tuple[object, int]] = {}
    for key, value in zip(table.keys, table.values):  # noqa: B905 - both come from one display
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise _not_literal(path, key or value, "a key is no string")
        if key.value in found:
            first = f"first at {path}:{found[key.value][1]}"
            twice = Fault("duplicate", f"{key.value!r} is declared twice", path, key.lineno, first)
            twice.name = key.value
            raise twice
        items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else None
        texts = [
            item.value
            for item in items or ()
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        none = isinstance(value, ast.Constant) and value.value is None
        if not none and (items is None or len(texts) != len(items)):
            raise _not_literal(path, value, f"the value of {key.value!r} is no list of strings")
        found[key.value] = (None if none else texts, key.lineno)
    return found


class _Names:
    """Reads ``[actors]``: unquoted dotted names nest in TOML and become one name again."""

    def __init__(self, raw: Raw, report: Callable[[Fault], None]) -> None:
        self.raw, self.report = raw, report
        self.typos = frozenset(typo for key in SPEC_KEYS for typo in _spellings(key))

    def entries(self, table: Table, path: tuple[str, ...], prefix: str) -> Iterator[Actor]:
        for key, value in table.items():
            actor = Actor(f"{prefix}{key}", value, self.raw.file, path=(*path, key))
            if not isinstance(value, dict) or not value or "." in key:
                yield actor
                continue
            other = [k for k in value if k not in SPEC_KEYS]
            typos = [k for k in other if not isinstance(value[k], dict) and self._looks_like_an_option(k)]
            if not other:
                yield actor
            elif typos:
                for typo in typos:
                    todo = "correct it, or write the dotted name in quotes"
                    self.report(actor.fault(self.raw, "key", f"has the unknown key {typo!r}", todo, typo))
            elif len(other) < len(value):
                options = ", ".join(k for k in value if k in SPEC_KEYS)
                what = f"has options ({options}) beside what is no option ({', '.join(other)})"
                todo = "write a dotted name one of whose parts is an option's name in quotes"
                self.report(actor.fault(self.raw, "ambiguous", what, todo))
            else:
                yield from self.entries(value, actor.path, f"{actor.name}.")

    def _looks_like_an_option(self, key: str) -> bool:
        # a class has a capital: only what starts like an option may be a misspelt one
        return key[:1].islower() and not self.typos.isdisjoint(_spellings(key.replace("_", "-")))


def _spellings(word: str) -> set[str]:
    """Return a word and what is left without any one letter: words one slip apart share one of these."""
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def _raise(fault: Fault) -> None:
    raise fault


def _registered(raw: Raw) -> list[Actor]:
    registry = raw.table.get("registry")
    if not isinstance(registry, str):
        return []
    path = os.path.normpath(os.path.join(raw.root, registry))
    items = _literals(path)["ACTOR_ENVIRONMENTS"].items()
    return [Actor(name, value is not None and value, path, line) for name, (value, line) in items]


def actors(raw: Raw, report: Callable[[Fault], None] = _raise) -> list[Actor]:
    """Return the entries of the registry and of ``[actors]``, in the order in which they are written.

    A table under a key without a dot is a part of a dotted name, unless its keys are those of an
    actor's table; one that has both, or a misspelt one, is reported.

    :param report: is told each fault; the default raises the first.
    """
    found: list[Actor] = []
    try:
        found += _registered(raw)
    except Fault as fault:
        report(fault)
    try:
        found += _Names(raw, report).entries(raw.section("actors"), (*raw.prefix, "actors"), "")
    except Fault as fault:
        report(fault)
    except RecursionError:
        report(Fault("unreadable", "[actors] is nested too deeply", raw.file, raw.line("actors")))
    first: dict[str, Actor] = {}
    for actor in found:
        if not all(part.isidentifier() for part in actor.name.split(".")):
            report(actor.fault(raw, "name", "is no class name", "write package.module.ClassName"))
        elif first.setdefault(actor.name, actor) is not actor:
            other = first[actor.name]
            line = other.line or raw.line(other.path[-1])
            report(actor.fault(raw, "duplicate", "is declared twice", f"first at {other.file}:{line}"))
    return list(first.values())


def source(raw: Raw, actor: Actor) -> Table | None:
    """Return the table that says what an actor's environment holds, a shared one's where it names one.

    :returns: None: the driver's interpreter.
    :raises Fault: it says no source, or names an environment that is not declared.
    """
    value = actor.value
    named = value.get("environment") if isinstance(value, dict) else None
    if isinstance(named, str):
        shared = raw.section("environments")
        if named not in shared:
            todo = f"declared: {', '.join(shared) or 'none'}"
            raise actor.fault(raw, "value", f"uses the unknown environment {named!r}", todo)
        value = shared[named]
    if value is False or named is False:
        return None
    table = {"extras": value} if isinstance(value, list) else value
    if not isinstance(table, dict) or not any(key in table for key in SOURCE_KEYS):
        todo = "give a list of extras, false, or a table with a source"
        raise actor.fault(raw, "value", "says no source", todo)
    for key in SOURCE_KEYS:
        if not all(isinstance(item, str) for item in _list(table, key)):
            raise actor.fault(raw, "value", f"has something else than strings in {key!r}")
    return table


def _list(table: Table, key: str) -> list[str]:
    value = table.get(key, [])
    return value if isinstance(value, list) else [value]  # type: ignore[list-item]


def _build_stage(extras: Iterable[str], stages: Mapping[str, Iterable[str]] | None = None) -> str:
    """Return the image stage that can finish an environment: the last one that owns one of its extras.

    :param stages: stage -> its extras, in order; None: ``STAGES``, else those of the declaration found.
    """
    if stages is None:
        raw = None if STAGES else _raw("")
        stages = _stages(raw) if raw else STAGES
    wanted = {normalized(extra) for extra in extras}
    owners = [name for name, owned in stages.items() if not wanted.isdisjoint(map(normalized, owned))]
    return owners[-1] if owners else FIRST_STAGE


def _raw(path: str) -> Raw | None:
    """Load the declaration that is named, else the one found from ``GREENROOM_PROJECT`` or here upwards."""
    try:
        found = path or find(os.environ.get("GREENROOM_PROJECT") or os.getcwd())
    except OSError as error:
        raise Fault("unreadable", f"cannot be read: {error.strerror}", "the working directory") from error
    return load(found) if found else None


def _stages(raw: Raw) -> dict[str, list[str]]:
    stages: dict[str, list[str]] = {}
    for name, stage in raw.section("stages").items():
        extras = _list(stage, "extras") if isinstance(stage, dict) else None
        if extras is None or not all(isinstance(extra, str) for extra in extras):
            line = raw.line(f"stages.{name}") or raw.line(name)
            raise Fault("value", f"[stages.{name}] must be a table with a list of extras", raw.file, line)
        stages[name] = extras
    return stages


class _Options:
    """The arguments of one call."""

    def __init__(self, argv: Iterable[str]) -> None:
        words: dict[str, list[str]] = {"": []}
        key = ""
        for word in argv:
            name, equals, value = word.partition("=")
            if not word.startswith("-"):
                words[key].append(word)
                key = key if key == "--actors" else ""
            elif name in ("--actors", "--distinct", "--format", "--declaration", "--help", "-h"):
                words[name] = [value] if equals else []
                key = "" if equals or name in ("--distinct", "--help", "-h") else name
            else:
                raise Fault("use", f"unknown option {name!r}", "usage", todo="see --help")
        for name in ("--actors", "--format", "--declaration"):
            if words.get(name) == []:
                raise Fault("use", f"{name} needs a value", "usage", todo="see --help")
        self.stage, *self.skipped = words[""] or ["all"]
        self.actors, self.declaration = words.get("--actors"), words.get("--declaration", [""])[0]
        self.distinct, self.help = "--distinct" in words, "--help" in words or "-h" in words
        self.format = words.get("--format", ["rows"])[0]
        if self.format not in ("rows", "json", "github-matrix"):
            raise Fault("use", "unknown format", "usage", todo="known: rows, json, github-matrix")


class _Row:
    """One line of the list."""

    def __init__(self, actor: str, table: Table, stages: Mapping[str, Iterable[str]]) -> None:
        self.actors, self.table, self.extras = [actor], table, _list(table, "extras")
        self.needs = {normalized(extra) for extra in self.extras}
        self.stage = _build_stage(self.extras, stages)

    def identity(self) -> str:
        """Return a text that is equal for tables that ask for one environment."""
        content = {key: value for key, value in self.table.items() if key not in LAUNCH_KEYS}
        groups = sorted({normalized(group) for group in _list(self.table, "groups")})
        return repr(sorted({**content, "extras": sorted(self.needs), "groups": groups}.items()))

    def arguments(self) -> str:
        """Return the source as arguments: ``uv sync``'s where it is a uv project."""
        words = ["--no-default-groups"] if self.table.get("default-groups") is False else []
        for key in SOURCE_KEYS:
            option = {"extras": "--extra", "groups": "--group", "dependencies": "--with"}.get(key, f"--{key}")
            for value in _list(self.table, key):
                words += [option, value if value.isprintable() and " " not in value else repr(value)]
        return " ".join(words)

    def data(self, *, distinct: bool) -> dict[str, object]:
        """Return the row for JSON."""
        who = {"actors": self.actors} if distinct else {"actor": self.actors[0]}
        return {**who, "stage": self.stage, "extras": self.extras, "arguments": self.arguments()}


def _extras_of_project(raw: Raw) -> list[str]:
    path = os.path.join(raw.root, "pyproject.toml")
    project = document(path)[1].get("project") if os.path.isfile(path) else None
    declared = project.get("optional-dependencies") if isinstance(project, dict) else None
    return list(declared) if isinstance(declared, dict) else []


def _unknown(raw: Raw, kind: str, name: str, known: Iterable[str]) -> Fault:
    from difflib import get_close_matches  # noqa: PLC0415 - only when something is wrong

    names = list(dict.fromkeys(known))
    near = get_close_matches(name, names, 1)
    words = [f"did you mean {near[0]!r}?"] if near else []
    if not near or len(names) < 20:
        words.append(f"known: {', '.join(names)}")
    return Fault(
        "use",
        f"unknown {kind} {name!r}",
        raw.file,
        raw.line("stages" if kind == "stage" else "actors"),
        " ".join(words),
    )


def _rows(
    raw: Raw, entries: list[Actor], stages: Mapping[str, Iterable[str]], options: _Options
) -> list[_Row]:
    known = ["all", FIRST_STAGE, *stages]
    if options.stage not in known:
        raise _unknown(raw, "stage", options.stage, known)
    tables = {entry.name: source(raw, entry) for entry in entries}
    for name in options.actors or ():
        if name not in tables:
            raise _unknown(raw, "actor", name, tables)
    rows = [_Row(name, table, stages) for name, table in tables.items() if table is not None]
    used = [extra for row in rows for extra in row.extras]
    for name in options.skipped:
        if normalized(name) not in map(normalized, used):  # of the project, but no actor's: nothing to skip
            known = [*used, *_extras_of_project(raw)]
            if normalized(name) not in map(normalized, known):
                raise _unknown(raw, "extra", name, known)
    skipped = {normalized(name) for name in options.skipped}
    rows = [row for row in rows if options.stage in ("all", row.stage) and skipped.isdisjoint(row.needs)]
    return [row for row in rows if options.actors is None or row.actors[0] in options.actors]


def _text(rows: list[_Row], options: _Options) -> str:
    if options.distinct:
        first: dict[str, _Row] = {}
        for row in rows:
            same = first.setdefault(row.identity(), row)
            same.actors += row.actors if same is not row else []
        rows = list(first.values())
    if options.format == "rows":
        return "".join(f"{','.join(row.actors)}\t{row.stage}\t{row.arguments()}\n" for row in rows)
    import json  # noqa: PLC0415 - only where it is asked for

    data = [row.data(distinct=options.distinct) for row in rows]
    if options.format == "github-matrix":
        return json.dumps({"include": data}) + "\n"
    return json.dumps(data, indent=2) + "\n"


def _listing(
    options: _Options,
    table: Mapping[str, Sequence[str] | None] | None,
    stages: Mapping[str, Sequence[str]] | None,
) -> str:
    own = None if options.declaration else table if table is not None else ACTOR_ENVIRONMENTS or None
    stages = STAGES or None if stages is None else stages
    raw = None if own is not None and stages is not None else _raw(options.declaration)
    if own is not None:
        raw = raw or Raw("ACTOR_ENVIRONMENTS", "", {})
        items = [(name, False if extras is None else list(extras)) for name, extras in own.items()]
        entries = [Actor(name, extras, "ACTOR_ENVIRONMENTS") for name, extras in items]
    elif raw is None:
        todo = "name one with --declaration"
        raise Fault("use", "no greenroom.toml and no [tool.greenroom] here or above", os.getcwd(), todo=todo)
    else:
        entries = actors(raw)
    return _text(_rows(raw, entries, _stages(raw) if stages is None else stages, options), options)


def main(
    argv: Sequence[str] | None = None,
    *,
    table: Mapping[str, Sequence[str] | None] | None = None,
    stages: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Print one row for each actor that needs an environment.

    :param argv: the arguments (see ``USAGE``); None: those of the process.
    :param table: a project's own table; None: ``ACTOR_ENVIRONMENTS`` when filled in, else the declaration's.
    :param stages: stage -> its extras; None: ``STAGES`` when filled in, else the declaration's.
    :returns: the exit status: 0, or 2 after one line on standard error.
    """
    try:
        options = _Options(sys.argv[1:] if argv is None else argv)
        text = USAGE if options.help else _listing(options, table, stages)
    except Fault as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has what it wanted; leave nothing to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)  # taking the interpreter down would be a tenth of the whole run
