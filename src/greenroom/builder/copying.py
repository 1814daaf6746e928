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
    """Write a git file: the repository stays where it is, the copy is its working tree."""
    git = os.path.join(source, ".git")
    if os.path.isdir(git):
        text = f"gitdir: {git}\n"
    elif os.path.isfile(git):  # a linked working tree or a submodule
        with open(git, encoding="utf-8", errors="surrogateescape") as file:
            place = file.read().removeprefix("gitdir:").strip()
        text = f"gitdir: {os.path.join(source, place)}\n"
    else:
        return
    with open(os.path.join(target, ".git"), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
