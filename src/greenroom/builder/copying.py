"""Copy a local source tree to where it is built, without what versions, caches and builds leave."""

from __future__ import annotations

import os
import shutil

from greenroom.recipes import local

__all__ = ["copy_tree"]


def copy_tree(source: str, target: str) -> None:
    """Copy what counts of ``source`` (:func:`greenroom.recipes.local.tree_files`).

    Symbolic links stay links; one that leads out of the tree gets its absolute target. Where the
    source is a git working tree of its own, the copy knows its repository, because build backends
    ask git for the version.

    :param source: absolute path of a directory.
    :param target: does not exist.
    :raises OSError: something cannot be read or written.
    """
    os.mkdir(target)
    for path in local.tree_files(source):
        copy = os.path.join(target, os.path.relpath(path, source))
        if os.path.islink(path):
            os.symlink(_destination(path, source), copy)
        elif os.path.isdir(path):
            os.makedirs(copy, exist_ok=True)
        elif os.path.isfile(path):
            shutil.copy2(path, copy)
    _tell_repository(source, target)


def _destination(link: str, tree: str) -> str:
    text = os.readlink(link)
    reached = os.path.normpath(os.path.join(os.path.dirname(link), text))
    inside = os.path.commonpath([tree, reached]) == tree
    return os.path.relpath(reached, os.path.dirname(link)) if inside else reached


def _tell_repository(source: str, target: str) -> None:
    """Make the copy a working tree of its own of the source's repository, as ``git worktree`` does.

    It has its own index, because asking git whether something changed writes there.
    See «commondir» in https://git-scm.com/docs/gitrepository-layout.
    """
    git = os.path.join(source, ".git")
    if os.path.isfile(git):  # a linked working tree or a submodule
        with open(git, encoding="utf-8", errors="surrogateescape") as file:
            git = os.path.join(source, file.read().removeprefix("gitdir:").strip())
    if not os.path.isfile(os.path.join(git, "HEAD")):
        return
    own = os.path.join(target, ".git")
    os.mkdir(own)
    for name in ("HEAD", "index"):
        if os.path.isfile(os.path.join(git, name)):
            shutil.copy2(os.path.join(git, name), os.path.join(own, name))
    common = git
    if os.path.isfile(os.path.join(git, "commondir")):
        with open(os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            common = os.path.normpath(os.path.join(git, file.read().strip()))
    with open(os.path.join(own, "commondir"), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"{common}\n")
