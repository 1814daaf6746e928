"""The keys that only servers have: how each is run and found."""

from __future__ import annotations

from greenroom.declaration.containers import Either, Key, ListOf, MapOf, Table
from greenroom.declaration.forms import COMMAND, LABEL, PATH, PORT, SECONDS, SERVER_NAME, TEXT
from greenroom.declaration.kinds import Number, Text, Word

__all__: list[str] = []

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
