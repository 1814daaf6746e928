"""The tables of a declaration: every key with its kind. The checker and the schema both read them."""

from __future__ import annotations

from greenroom.declaration.containers import Either, Key, ListOf, MapOf, Table
from greenroom.declaration.forms import (
    COMMAND,
    EXTRAS,
    FLAG,
    GROUP,
    INDEX_NAME,
    LABEL,
    PACKAGE,
    PACKAGES,
    PATH,
    PATHS,
    SERVER_NAME,
    STAGE_NAME,
    TEXT,
    VARIABLE,
    VARIABLES,
)
from greenroom.declaration.kinds import No, Text, Word
from greenroom.declaration.serverkeys import ALIAS, EXTRA_REQUIREMENTS, PLACE, SERVICE

__all__: list[str] = []

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
LAUNCH = (
    Key(name="env", kind=VARIABLES, about="Variables that the process is started with."),
    Key(name="env-file", kind=PATH, about="A file of further variables, NAME=value lines."),
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
