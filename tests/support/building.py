"""Run jobs through the builder and ask what came of them."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from greenroom.builder import syncing
from greenroom.errors import BuildFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from greenroom.builder.work import Job, Result
    from greenroom.store.layout import Store

__all__ = ["built", "failure", "said", "sync"]


def sync(work: Sequence[Job], store: Store, environ: dict[str, str], **more: Any) -> tuple[Result, ...]:
    """Sync some jobs, with an observer that ignores unless one is given."""
    return syncing.sync(work, store, observer=more.pop("observer", lambda _: None), environ=environ, **more)


def built(job: Job, store: Store, environ: dict[str, str], **more: Any) -> None:
    """Sync a job that has to succeed."""
    (result,) = sync([job], store, environ, **more)
    assert result.error is None, result.error


def failure(job: Job, store: Store, environ: dict[str, str], **more: Any) -> BuildFailed:
    """Sync a job that has to fail, and return the error."""
    (result,) = sync([job], store, environ, **more)
    assert isinstance(result.error, BuildFailed), result.error
    return result.error


def said(store: Store, job: Job, code: str) -> Any:
    """Return what code prints as JSON in the environment of a job."""
    command = [store.interpreter(job.key), "-c", f"import json\n{code}"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout)
