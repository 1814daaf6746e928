"""Check out one commit of a git repository, with its tags and submodules."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from greenroom.errors import FetchFailed, NotCached

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.builder.workplace import Workplace
    from greenroom.locks.model import Commit

__all__ = ["check_out"]

_SAID = {
    "GIT_TERMINAL_PROMPT": "0",  # nobody is there to answer
    "GIT_LFS_SKIP_SMUDGE": "1",  # as uv: pointers of large files stay pointers
    "GIT_OPTIONAL_LOCKS": "0",
}


def check_out(place: Workplace, commit: Commit, target: str, variables: Mapping[str, str]) -> None:
    """Make ``target`` a working tree of the commit.

    The history comes along without file contents where the server can do that, and so do all tags:
    tools that tell a version from git need both.

    :param target: absolute path, does not exist.
    :param variables: the environment of git: access by ssh agent, credential helpers, proxies.
    :raises FetchFailed: git is missing, or cannot get the commit.
    :raises NotCached: the run is offline and the repository is not on this machine.
    """
    if place.run.offline and not _is_local(commit.url):
        todo = "run it once without --offline"
        raise place.failing(f"{commit.url} at {commit.commit[:12]} was never built here", NotCached, todo)
    place.enter("download", f"{commit.url} at {commit.commit[:12]}")
    program = shutil.which("git", path=variables.get("PATH"))
    if program is None:
        raise place.failing("no git on PATH, and a source is a git repository", FetchFailed, "install git")
    surroundings = {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes", **variables, **_SAID}

    def git(*arguments: str, directory: str) -> None:
        # The caller's own hooks and templates are no part of the source.
        settings = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
        place.call(
            [program, *settings, *arguments], variables=surroundings, directory=directory, kind=FetchFailed
        )

    folder = os.path.dirname(target)
    git(
        "clone", "--quiet", "--no-checkout", "--filter=blob:none", "--template=", "--", commit.url, target,
        directory=folder,
    )  # fmt: skip
    # A commit that no branch holds (a pull request's, a rewritten branch's) is not in a clone.
    git("fetch", "--quiet", "origin", commit.commit, directory=target)
    git("checkout", "--quiet", "--detach", commit.commit, directory=target)
    if os.path.exists(os.path.join(target, ".gitmodules")):
        git("submodule", "update", "--quiet", "--init", "--recursive", directory=target)


def _is_local(url: str) -> bool:
    return urlsplit(url).scheme in {"", "file"}
