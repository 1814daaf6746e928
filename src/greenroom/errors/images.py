"""Errors of images: what was frozen, what was asked of a stage, what cannot be written."""

from __future__ import annotations

from greenroom.errors.root import NotReadyError, UseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FileInTheWay", "ImageNotComplete", "ImageNotFrozen", "OutsideContext", "WrapperClash"]


class FileInTheWay(UseError):
    """A file is to be written where another one stands that greenroom did not write."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            "another file stands here, and is left as it is",
            where=path,
            todo="move it, or name another place",
        )


class ImageNotFrozen(NotReadyError):
    """No store holds the fingerprint that `greenroom image freeze` writes, or it cannot be read."""

    def __init__(self, path: str, reason: str = "") -> None:
        self.path, self.reason = path, reason
        what = f"the image's fingerprint cannot be used: {reason}" if reason else "the image was not frozen"
        super().__init__(what, where=path, todo="run greenroom image freeze in the image's last layer")


class ImageNotComplete(NotReadyError):
    """Environments of the image are not ready."""

    def __init__(self, what: str, components: Iterable[str]) -> None:
        self.components = tuple(components)
        super().__init__(what, where=", ".join(self.components), todo="greenroom image sync --stage NAME")


class WrapperClash(UseError):
    """Two actors would have one wrapper, because their classes have one name."""

    def __init__(self, wrapper: str, one: str, other: str) -> None:
        self.wrapper, self.one, self.other = wrapper, one, other
        super().__init__(
            f"{wrapper} would stand for {one} and for {other}",
            todo="name the actors whose wrappers are wanted",
        )


class OutsideContext(UseError):
    """A file that decides environments is not below the directory that an image is built from."""

    def __init__(self, path: str, directory: str) -> None:
        self.path, self.directory = path, directory
        super().__init__(
            f"it decides an environment and is not below {directory}, the image's build context",
            where=path,
            todo="move it there; a Dockerfile copies only from its context",
        )
