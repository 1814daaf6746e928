"""What an interpreter is, as it says itself."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.components import Pairs

__all__ = ["Interpreter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A base interpreter (never a virtual environment), asked once and remembered by its stat."""

    path: str
    """Absolute, resolved path of the base interpreter's binary."""
    implementation: str
    """``sys.implementation.name``: ``cpython``, ``pypy``, ``graalpy``."""
    version: str
    """Full version, ``3.11.7`` or ``3.14.0rc1``."""
    cache_tag: str
    """``sys.implementation.cache_tag``, for example ``cpython-311``."""
    abi: str
    """The first ABI of its most specific tag (``cp311``, ``cp313t``)."""
    magic: str
    """The bytecode's magic number, hexadecimal."""
    platform: str
    """``sysconfig.get_platform()``."""
    markers: Pairs
    """The PEP 508 marker environment."""
    tags: tuple[str, ...]
    """Wheel tags (``cp311-cp311-manylinux_2_36_x86_64``), most specific first."""
    stat: tuple[int, int, int]
    """Inode, size and mtime (ns) of the binary: one stat tells «replaced»."""
