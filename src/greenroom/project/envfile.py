"""Read a file of variables (``env-file``): the part of the usual dotenv form that needs no guessing."""

from __future__ import annotations

from greenroom.errors import EnvFileInvalid

__all__ = ["parse", "read"]

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "$": "$"}


def read(path: str) -> tuple[tuple[str, str], ...]:
    r"""Return the variables of a file, in its order.

    One ``NAME=value`` a line, optionally behind ``export``; blank lines and lines that begin with
    ``#`` are skipped. A value is taken as it is, without the blanks around it; in single quotes it
    is taken to the letter; in double quotes ``\n``, ``\t``, ``\"`` and ``\\`` are escapes. An
    unquoted value ends before `` #``. Nothing is expanded.

    :raises EnvFileInvalid: the file cannot be read, or a line is none of these.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, ValueError) as error:
        raise EnvFileInvalid(
            path, 0, f"cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    return parse(text, path)


def parse(text: str, path: str) -> tuple[tuple[str, str], ...]:
    """Return the variables of a text.

    :param path: where it stands, for errors.
    :raises EnvFileInvalid: a line is none of the form that :func:`read` describes.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            found.append(_pair(stripped, path, number))
    return tuple(found)


def _pair(text: str, path: str, number: int) -> tuple[str, str]:
    name, separator, value = text.removeprefix("export ").partition("=")
    name, value = name.strip(), value.strip()
    if not separator or not name.isidentifier():
        raise EnvFileInvalid(path, number, "not of the form NAME=value")
    if value[:1] in {"'", '"'}:
        quote = value[0]
        inner, rest = _quoted(value[1:], quote)
        if rest is None or (rest.strip() and not rest.lstrip().startswith("#")):
            raise EnvFileInvalid(path, number, f"the quote {quote} is not closed at the end of the value")
        return name, inner
    return name, value.split(" #", 1)[0].rstrip()


def _quoted(text: str, quote: str) -> tuple[str, str | None]:
    """Return a quoted value and what follows it; None when the quote is not closed."""
    out: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == quote:
            return "".join(out), text[position + 1 :]
        if character == "\\" and quote == '"' and text[position + 1 : position + 2] in _ESCAPES:
            character = _ESCAPES[text[position + 1]]
            position += 1
        out.append(character)
        position += 1
    return "", None
