"""Compile Python sources into a cache of bytecode, named by the digest of each source.

A script for the environment's own interpreter, Python 3.8 or newer, standard library only::

    python -I -S -W ignore compile_worker.py JOBS CACHE DESCRIPTOR

JOBS is a JSON file with a list of batches, each a list of ``[sha256, path]``; CACHE the directory for
this interpreter; DESCRIPTOR a pipe that holds the numbers of the batches, four bytes each: workers
that share it take one number after the other until it is empty.

One JSON line for each source that cannot be read or is not what its digest says, and for a disk
that refuses; the last line counts: no last line, no success.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import marshal
import os
import sys

__all__ = ["compile_source", "main"]

UNCHECKED = (1).to_bytes(4, "little")
"""PEP 552: a hash-based file whose source is not looked at."""


def compile_source(source: bytes, digest: str) -> bytes | None:
    """Return the content of the ``.pyc`` file of ``source``, None when it is no Python.

    The name inside depends on the digest alone, so that equal sources give equal files wherever
    they stand; the import system puts the true path in when it loads the file.

    :raises MemoryError: there is no memory left.
    """
    try:
        code = compile(source, "<greenroom>/" + digest[:16] + ".py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, UnicodeError):
        return None
    return b"".join(
        (importlib.util.MAGIC_NUMBER, UNCHECKED, importlib.util.source_hash(source), marshal.dumps(code))
    )


def main(arguments: list[str]) -> int:
    """Take batches until none is left; return the exit status."""
    jobs, cache, descriptor = arguments
    with open(jobs, encoding="utf-8", errors="surrogateescape") as file:
        batches = json.load(file)
    compiled = 0
    try:
        while True:
            number = os.read(int(descriptor), 4)
            if not number:
                break
            for digest, path in batches[int.from_bytes(number, "little")]:
                compiled += _work(cache, digest, path)
    except OSError as error:
        _say({"errno": error.errno, "path": error.filename or cache})
        return 1
    _say({"compiled": compiled})
    return 0


def _work(cache: str, digest: str, path: str) -> int:
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError:
        _say({"path": path, "found": None, "size": None})
        return 0
    found = hashlib.sha256(source).hexdigest()
    if found != digest:  # damage or a false RECORD: never under a digest that is not its own
        _say({"path": path, "found": found, "size": len(source)})
        return 0
    target = os.path.join(cache, digest[:2], digest)
    code = compile_source(source, digest)
    if code is None:
        _write(target + ".bad", b"")
        return 0
    _write(target + ".pyc", code)
    return 1


def _write(target: str, content: bytes) -> None:
    temporary = target + "." + os.urandom(6).hex()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o444)
            file.write(content)
        os.rename(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _say(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201 - its only way to answer


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
