"""Keep the complete log of one build, readable by its owner only, without any credential."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from greenroom.uv.secrets import mask

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

__all__ = ["Log"]


class Log:
    """A file that takes lines, each with the seconds since its start; safe to use by several threads.

    A disk that is full must not hide why a build failed: what cannot be written is dropped.
    """

    def __init__(self, directory: str, name: str, secrets: Iterable[str] = ()) -> None:
        """Create ``<directory>/<name>.<time>.log`` with mode 0600.

        :param secrets: values that are masked wherever they occur.
        :raises OSError: the directory cannot be written.
        """
        self._secrets = tuple(secrets)
        self._started = time.monotonic()
        self._lock = threading.Lock()
        descriptor, self.path = _create(directory, name)
        self._file = open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115 - closed by close()

    @property
    def name(self) -> str:
        """The file's name in its directory."""
        return os.path.basename(self.path)

    def write(self, text: str) -> str:
        """Append one or more lines.

        :returns: the text as it was written: masked.
        """
        masked = mask(text, self._secrets)
        stamp = f"{time.monotonic() - self._started:9.3f}  "
        with self._lock, suppress(OSError, ValueError):
            for line in masked.splitlines() or [""]:
                self._file.write(f"{stamp}{line}\n")
        return masked

    def close(self) -> None:
        """Close the file; later lines are dropped."""
        with self._lock, suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        """Return the log itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


def _create(directory: str, name: str) -> tuple[int, str]:
    """Create a file of its own, also when another build of this name began in the same second."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    number = 0
    while True:
        more = f"-{number}" if number else ""
        path = os.path.join(directory, f"{name}.{stamp}{more}.log")
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), path
        except FileExistsError:
            number += 1
