"""One component's environment as Python sees it: paths, packages, and processes that run in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from greenroom.project import answering, launching
from greenroom.store import leasing
from greenroom.store.model import RECORD

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from types import MappingProxyType

    from greenroom.project.facade import Project
    from greenroom.snapshot import Answer

__all__ = ["Environment"]


class Environment:
    """The environment of one component, as it was when it was asked for.

    Environments are immutable: another content is another key and another path. After a
    :meth:`Project.sync`, ask the project again.
    """

    __slots__ = ("_answer", "_project")

    def __init__(self, project: Project, answer: Answer) -> None:
        self._project = project
        self._answer = answer

    def __repr__(self) -> str:
        """Return the name, the key and the state."""
        return f"<Environment {self.name} {self.key or 'driver'} {self.state}>"

    def __eq__(self, other: object) -> bool:
        """Compare by content: components that share an environment have equal ones."""
        if not isinstance(other, Environment):
            return NotImplemented
        return (self.key, self.path, self.python) == (other.key, other.path, other.python)

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash((self.key, self.path, self.python))

    @property
    def name(self) -> str:
        """The component's name."""
        return self._answer.name

    @property
    def kind(self) -> str:
        """``actor`` or ``server``."""
        return self._answer.kind

    @property
    def key(self) -> str | None:
        """The digest of everything that decides the content; None on the driver's interpreter."""
        return self._answer.key

    @property
    def path(self) -> str | None:
        """The environment's directory, which is its ``sys.prefix``; None on the driver's interpreter."""
        return self._answer.environment

    @property
    def python(self) -> str:
        """The path of the interpreter; it is there when the environment is ready."""
        return self._answer.interpreter or ""

    @property
    def version(self) -> str:
        """The interpreter's full version, ``3.11.7``."""
        return self._answer.python

    @property
    def state(self) -> str:
        """``ready``, ``missing``, ``stale``, ``partial``, ``damaged``, or ``driver``."""
        return self._answer.state

    @property
    def reason(self) -> str:
        """Why it is not ready, in words; empty when it is."""
        return self._answer.problem or ""

    @property
    def ready(self) -> bool:
        """Whether a process can be started in it now."""
        return answering.not_ready(self._answer) is None

    @property
    def packages(self) -> MappingProxyType[str, str | None]:
        """Name -> version of what it contains, also before it is built; empty on the driver's interpreter."""
        return self._project.packages(self.name)

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the argument list that starts the interpreter with some arguments.

        :raises NotReadyError: the environment is not ready.
        """
        self._check()
        return [self.python, *arguments]

    def variables(self, environ: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment block for a process in it.

        :param environ: what to start from; None: this process's variables. It is not changed.
        :raises NotReadyError: the environment is not ready.
        :raises EnvFileInvalid: the component's ``env-file`` cannot be used.
        """
        self._check()
        start = os.environ if environ is None else environ
        return launching.block(
            start, environment=self.path, interpreter=self.python, launch=self._answer.launch
        )

    def run(self, arguments: Sequence[str], **options: Any) -> subprocess.CompletedProcess[Any]:
        """Run the interpreter with some arguments and wait for its end, as ``subprocess.run`` does.

        Meanwhile the environment counts as in use, so that no collection removes it.

        :param options: passed on to ``subprocess.run``; ``env`` is what the variables start from.
        :raises NotReadyError: the environment is not ready.
        """
        import subprocess  # noqa: PLC0415 - heavy: only when a process is started

        command = self.command(arguments)
        block = self.variables(options.pop("env", None))
        if self.path is None:
            return subprocess.run(command, env=block, check=options.pop("check", False), **options)
        descriptor = leasing.lease(f"{self.path}/{RECORD}")
        try:
            shared = (*options.pop("pass_fds", ()), descriptor)
            check = options.pop("check", False)
            return subprocess.run(command, env=block, pass_fds=shared, check=check, **options)
        finally:
            os.close(descriptor)

    def _check(self) -> None:
        error = answering.not_ready(self._answer)
        if error is not None:
            raise error
