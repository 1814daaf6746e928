"""The tar format, as far as archives use it: headers of files and hard links (POSIX ustar, GNU long names).

A header is a function of path, size, mode and link; times and owners are zero. So the reader needs
no parser: it makes the header that has to come and compares.
"""

from __future__ import annotations

__all__ = ["header", "padding", "size_of"]

BLOCK = 512
END = bytes(2 * BLOCK)
"""Two empty blocks end a tar."""
_NAME, _PREFIX = 100, 155
_SIZE = slice(124, 136)
_LARGEST_OCTAL = 8**11 - 1


def header(path: str, *, size: int = 0, executable: bool = False, link: str | None = None) -> bytes:
    """Return the blocks before a member's content.

    :param path: relative, with ``/``.
    :param size: bytes of the content; 0 for a hard link.
    :param link: the earlier member that it is a hard link to.
    """
    name, target = path.encode(), (link or "").encode()
    blocks = b""
    if len(target) > _NAME:
        blocks += _long(b"K", target)
    prefix, short = _split(name)
    if short is None:
        blocks += _long(b"L", name)
        prefix, short = b"", name[:_NAME]
    kind = b"0" if link is None else b"1"
    mode = 0o755 if executable else 0o644
    return blocks + _block(short, prefix, mode, size, kind, target[:_NAME])


def padding(size: int) -> int:
    """Return the number of zero bytes behind a content of ``size`` bytes."""
    return -size % BLOCK


def size_of(block: bytes) -> int:
    """Return the size that a header names, -1 when it names none."""
    try:
        return int(block[_SIZE].rstrip(b"\0 "), 8)
    except ValueError:
        return -1


def _split(name: bytes) -> tuple[bytes, bytes | None]:
    """Return prefix and name of a path as ustar keeps them; None as the name where it cannot."""
    if len(name) <= _NAME:
        return b"", name
    cut = name.rfind(b"/", 0, _PREFIX + 1)
    if cut > 0 and len(name) - cut - 1 <= _NAME:
        return name[:cut], name[cut + 1 :]
    return b"", None


def _long(kind: bytes, text: bytes) -> bytes:
    content = text + b"\0"
    blocks = _block(b"././@LongLink", b"", 0o644, len(content), kind, b"")
    return blocks + content + bytes(padding(len(content)))


def _block(name: bytes, prefix: bytes, mode: int, size: int, kind: bytes, link: bytes) -> bytes:
    # Beyond 8 GiB it is GNU's base-256 form.
    length = b"%011o\0" % size if size <= _LARGEST_OCTAL else b"\x80" + size.to_bytes(11, "big")
    start = name.ljust(_NAME, b"\0") + b"%07o\0" % mode + b"0000000\0" * 2 + length + b"00000000000\0"
    end = kind + link.ljust(_NAME, b"\0") + b"ustar\x0000" + bytes(64) + b"0000000\0" * 2
    end += prefix.ljust(_PREFIX, b"\0") + bytes(12)
    checksum = sum(start) + sum(end) + 8 * 0x20
    return start + b"%06o\0 " % checksum + end
