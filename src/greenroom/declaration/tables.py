"""The tables of a declaration: every key with its kind. The checker and the schema both read them."""

from __future__ import annotations

from greenroom.declaration.containers import Either, Key, ListOf, MapOf, Table
from greenroom.declaration.kinds import Flag, No, Number, Text, Word

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

SOURCE = (
    Key(name="extras", kind=EXTRAS, about="Extras of the uv project or of the pylock file."),
    Key(
        name="groups",
        kind=ListOf(items=GROUP, what="a list of dependency groups"),
        about="Dependency groups of the uv project or of the pylock file.",
    ),
    Key(name="default-groups", kind=FLAG, about="Whether uv's default groups count (default: true)."),
    Key(name="project", kind=PATH, about="The uv project's directory (default: the declaration's own)."),
    Key(name="package", kind=PACKAGE, about="A workspace member of the uv project, by name."),
    Key(name="pylock", kind=PATH, about="A pylock.toml or pylock.<name>.toml (PEP 751)."),
    Key(name="requirements", kind=PATHS, about="Requirements files; they may include others."),
    Key(name="constraints", kind=PATHS, about="Constraints files for requirements or dependencies."),
    Key(name="overrides", kind=PATHS, about="Overrides files for requirements or dependencies."),
    Key(name="build-constraints", kind=PATHS, about="Constraints files for what builds need."),
    Key(
        name="dependencies",
        kind=ListOf(items=TEXT, what="a list of requirements", least=1),
        about="Requirements written here; beside `requirements` they are added to the files'.",
    ),
    Key(name="script", kind=PATH, about="A script with inline metadata (PEP 723)."),
)
ENVIRONMENT_NAME = Key(
    name="environment",
    kind=Either(kinds=(LABEL, No())),
    about="A shared environment of [environments], or false: the driver's interpreter.",
)
BUILD = (
    Key(
        name="python",
        kind=Text(what="a Python version, specifier or path"),
        about="The interpreter: a version, a specifier set or a path (default: the driver's).",
    ),
    Key(
        name="index",
        kind=ListOf(items=INDEX_NAME, what="a list of index names"),
        about="The declared indexes to use, by name (default: all of them).",
    ),
    Key(
        name="build-env",
        kind=Either(kinds=(ListOf(items=VARIABLE, what="a list of variable names"), VARIABLES)),
        about="Variables that builds may read: names (values from the caller) or names with values.",
    ),
    Key(
        name="no-build-isolation",
        kind=Either(kinds=(PACKAGES, MapOf(values=PACKAGES, names=PACKAGE, what="a table of package lists"))),
        about="Packages built in the environment itself, in this order, or each with the packages it sees.",
    ),
    Key(
        name="install-local",
        kind=FLAG,
        about="Whether the project, members and path sources are installed (default: true).",
    ),
    Key(name="late-packages", kind=PACKAGES, about="Packages that a later image stage brings."),
    Key(
        name="compile-bytecode",
        kind=FLAG,
        about="Whether bytecode is part of the environment (default: true).",
    ),
    Key(
        name="link-mode",
        kind=Word(
            words=("hardlink", "clone", "copy"),
            refused=(
                (
                    "symlink",
                    "links into uv's cache would leave environments hollow when the cache is cleaned",
                ),
            ),
        ),
        about="How files come out of uv's cache (default: uv's for the platform).",
    ),
    Key(
        name="allow-clash",
        kind=PACKAGES,
        about="Packages whose files win where several packages own one path; installed last.",
    ),
    Key(
        name="post-install",
        kind=ListOf(items=COMMAND, what="a list of argument lists"),
        about="Commands run in the environment when it is built; part of its key.",
    ),
    Key(
        name="smoke",
        kind=ListOf(items=TEXT, what="a list of statements"),
        about="Python statements that `greenroom verify --smoke` runs in the environment.",
    ),
    Key(
        name="prerelease",
        kind=Word(words=("disallow", "allow", "if-necessary", "explicit", "if-necessary-or-explicit")),
        about="Which pre-releases `greenroom lock` takes (default: uv's).",
    ),
    Key(
        name="index-strategy",
        kind=Word(words=("first-index", "unsafe-first-match", "unsafe-best-match")),
        about="How `greenroom lock` goes through several indexes (default: uv's).",
    ),
)
EXTRA_REQUIREMENTS = Key(
    name="extra-requirements",
    kind=ListOf(items=TEXT, what="a list of requirements"),
    about="Requirements added to those of a server that has no lock of its own.",
)
ALIAS = Key(
    name="alias",
    kind=PATH,
    about="Where other tools expect a server's environment, from its directory: .venv, for example.",
)
LAUNCH = (
    Key(name="env", kind=VARIABLES, about="Variables that the process is started with."),
    Key(name="env-file", kind=PATH, about="A file of further variables, NAME=value lines."),
)
READY = Table(
    keys=(
        Key(name="http", kind=TEXT, about="A URL that answers with a status below 400."),
        Key(name="tcp", kind=TEXT, about="host:port that accepts a connection."),
        Key(name="log", kind=TEXT, about="A regular expression that a line of output matches."),
        Key(name="exec", kind=COMMAND, about="A command that ends with status 0."),
        Key(name="interval", kind=SECONDS, about="Seconds between attempts."),
        Key(name="timeout", kind=SECONDS, about="Seconds for one attempt."),
        Key(name="start-period", kind=SECONDS, about="Seconds until a server that is not ready has failed."),
    ),
    what="a table of one probe",
)
RESTART_WORD = Word(words=("never", "on-failure", "always"))
RESTART = Table(
    keys=(
        Key(name="policy", kind=RESTART_WORD, about="When the server is started again."),
        Key(name="limit", kind=Number(least=0, most=1_000_000), about="How often at most."),
        Key(name="backoff", kind=SECONDS, about="Seconds before the first restart; doubled each time."),
    ),
    what="a table of a policy",
)
LOG = Table(
    keys=(
        Key(name="directory", kind=PATH, about="Where the server's log is kept."),
        Key(
            name="rotate-size", kind=Number(least=1, most=2**40), about="Bytes after which a log is rotated."
        ),
        Key(name="keep", kind=Number(least=0, most=10_000), about="How many rotated logs are kept."),
    ),
)
NEEDS_WORD = Word(words=("started", "ready", "completed"))
SERVICE = (
    Key(name="host", kind=TEXT, about="The address it listens on (default: 127.0.0.1)."),
    Key(name="port", kind=PORT, about="A fixed port (default: a free one)."),
    Key(name="socket", kind=Word(words=("hold", "pass", "none")), about="How its port is kept for it."),
    Key(name="ready", kind=Either(kinds=(TEXT, READY)), about="When it counts as ready: a URL or a probe."),
    Key(
        name="needs",
        kind=Either(
            kinds=(
                ListOf(items=SERVER_NAME, what="a list of servers"),
                MapOf(values=NEEDS_WORD, names=SERVER_NAME, what="a table server -> condition"),
            )
        ),
        about="Servers to wait for: names (until ready), or names with started, ready or completed.",
    ),
    Key(name="restart", kind=Either(kinds=(RESTART_WORD, RESTART)), about="When it is started again."),
    Key(
        name="stop-signal",
        kind=Text(
            what="a signal's name", pattern=r"(?:SIG)?[A-Z]+[0-9]?", form="a signal's name like SIGTERM"
        ),
        about="The signal that asks it to stop (default: SIGTERM).",
    ),
    Key(name="grace", kind=SECONDS, about="Seconds between that signal and SIGKILL."),
    Key(name="replicas", kind=Number(least=1, most=10_000), about="How many processes of it run."),
    Key(
        name="tags",
        kind=ListOf(items=LABEL, what="a list of tags"),
        about="Words by which servers are chosen together.",
    ),
    Key(name="log", kind=LOG, about="What becomes of its output."),
)
PLACE = (
    Key(name="path", kind=PATH, about="The server's directory: its source and its working directory."),
    Key(name="command", kind=COMMAND, about="Its argument list, with {port}, {host}, {name}, {python}."),
)

SPEC = Table(keys=(*SOURCE, ENVIRONMENT_NAME, *BUILD, *LAUNCH))
ACTOR = Either(kinds=(No(), EXTRAS, SPEC))
SHARED = Either(kinds=(EXTRAS, Table(keys=(*SOURCE, *BUILD))))
SERVER = Table(keys=(*PLACE, *SOURCE, EXTRA_REQUIREMENTS, ENVIRONMENT_NAME, *BUILD, *LAUNCH, ALIAS, *SERVICE))
STAGE = Table(
    keys=(
        Key(name="extras", kind=EXTRAS, about="Extras whose environments only this stage can finish."),
        Key(name="late-packages", kind=PACKAGES, about="Packages that exist in this stage only."),
    ),
)
DISCOVER = Table(
    keys=(
        Key(
            name="servers",
            kind=ListOf(items=PATH, what="a list of glob patterns"),
            about="Patterns; each directory with a requirements.txt or pyproject.toml is a server.",
        ),
    ),
)
INDEX = Table(
    keys=(
        Key(name="name", kind=INDEX_NAME, about="Its name, also in UV_INDEX_<NAME>_USERNAME.", needed=True),
        Key(name="url", kind=TEXT, about="Its URL, without credentials, or a directory.", needed=True),
        Key(name="explicit", kind=FLAG, about="Whether only packages assigned to it come from it."),
        Key(name="default", kind=FLAG, about="Whether it takes the place of the public index."),
    ),
)
HOST = Table(
    keys=(
        Key(name="name", kind=PACKAGE, about="The host project's name.", needed=True),
        Key(name="path", kind=PATH, about="Where its checkout would be (default: the declaration's)."),
        Key(
            name="version",
            kind=Text(
                what="a version",
                pattern=r"\s*(?:[0-9]|[=!<>~]=?)[^;@]*",
                form="a version or version specifiers",
            ),
            about="Its version, or specifiers, where it is no checkout (default: the driver's).",
        ),
    ),
)
STORE = Table(
    keys=(
        Key(name="path", kind=PATHS, about="The store, or several searched in order."),
        Key(name="aliases", kind=PATH, about="A directory for an alias of each component."),
    ),
)
IMAGE = Table(
    keys=(
        Key(
            name="on-drift",
            kind=Word(words=("error", "warn", "rebuild")),
            about="What `greenroom image verify` does where image and declaration differ (default: error).",
        ),
    ),
)
DEFAULTS = Table(
    keys=(
        *(key for key in SOURCE if key.name in ("project", "default-groups")),
        *BUILD,
        *LAUNCH,
        EXTRA_REQUIREMENTS,
        ALIAS,
        Key(name="driver", kind=PATH, about="The driver's interpreter, when it is not greenroom's own."),
        Key(
            name="pythons",
            kind=ListOf(items=PATH, what="a list of paths"),
            about="Interpreters that are looked at before uv is asked.",
        ),
        Key(name="python-downloads", kind=FLAG, about="Whether uv may fetch interpreters (default: false)."),
    ),
)
ACTORS = MapOf(values=ACTOR, what="a table of actors")
"""Read entry by entry, because unquoted dotted names nest."""
TOP = Table(
    keys=(
        Key(
            name="registry",
            kind=PATH,
            about="A Python file with a literal ACTOR_ENVIRONMENTS; it is read, never executed.",
        ),
        Key(name="actors", kind=ACTORS, about="Actors: class name -> extras, false, or a table."),
        Key(
            name="servers",
            kind=MapOf(values=SERVER, names=SERVER_NAME, what="a table of servers"),
            about="Servers by name.",
        ),
        Key(name="discover", kind=DISCOVER, about="Where servers are found."),
        Key(name="host", kind=HOST, about="The project that servers require by relative path."),
        Key(
            name="environments",
            kind=MapOf(values=SHARED, names=LABEL, what="a table of environments"),
            about="Environments by name, for components that share one.",
        ),
        Key(
            name="stages",
            kind=MapOf(values=STAGE, names=STAGE_NAME, what="a table of stages"),
            about="Image stages in the order of the layers.",
        ),
        Key(name="defaults", kind=DEFAULTS, about="Options of every component that does not say otherwise."),
        Key(name="store", kind=STORE, about="Where environments and aliases stand."),
        Key(name="image", kind=IMAGE, about="How an image and the declaration belong together."),
        Key(
            name="index",
            kind=ListOf(items=INDEX, what="a list of indexes"),
            about="Package indexes, tried in this order.",
        ),
    ),
    what="a table",
)
