"""The forms that values of a declaration have: names, paths, lists, numbers."""

from __future__ import annotations

from greenroom.declaration.containers import Either, ListOf, MapOf
from greenroom.declaration.kinds import Flag, Number, Text

__all__: list[str] = []

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_SERVER = r"[^\x00-\x1f\x7f/\\.-][^\x00-\x1f\x7f/\\]*"

FLAG = Flag()
TEXT = Text()
PATH = Text(
    what="a path",
    pattern=r"(?![A-Za-z][A-Za-z0-9+.-]*://)[^~$][\s\S]*",
    form="a path, no URL, without ~ and variables, which are not expanded",
)
PACKAGE = Text(what="a package's name", pattern=_NAME, form="a package's name")
EXTRA = Text(what="an extra's name", pattern=_NAME, form="an extra's name")
GROUP = Text(what="a group's name", pattern=_NAME, form="a dependency group's name")
INDEX_NAME = Text(what="an index's name", pattern=_NAME, form="an index's name")
VARIABLE = Text(what="a variable's name", pattern=r"[A-Za-z_][A-Za-z0-9_]*", form="a variable's name")
LABEL = Text(what="a name", pattern=_NAME, form="a name of letters, digits, '.', '-' and '_'")
SERVER_NAME = Text(
    what="a server's name",
    pattern=rf"{_SERVER}(?:/{_SERVER})*",
    form="a server's name, whose parts start neither with '.' nor with '-'",
)
STAGE_NAME = Text(
    what="a stage's name",
    pattern=rf"(?!(?:all|deps|local)$){_NAME}",
    form="a stage's name other than all, deps and local, which always exist",
)
ANY_TEXT = Text(empty=True)
PACKAGES = ListOf(items=PACKAGE, what="a list of package names")
PATHS = Either(kinds=(PATH, ListOf(items=PATH, what="a list of paths", least=1)))
COMMAND = ListOf(items=ANY_TEXT, what="an argument list", least=1)
EXTRAS = ListOf(items=EXTRA, what="a list of extras")
VARIABLES = MapOf(values=ANY_TEXT, what="a table of variables", names=VARIABLE)
SECONDS = Number(least=0, most=86_400, whole=False)
PORT = Number(least=1, most=65_535)
