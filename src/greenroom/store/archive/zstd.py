"""The zstd of Python's standard library (3.14), or its backport for what is older."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__: list[str] = []

ZstdCompressor = zstd.ZstdCompressor
ZstdDecompressor = zstd.ZstdDecompressor
ZstdError = zstd.ZstdError
CompressionParameter = zstd.CompressionParameter
DecompressionParameter = zstd.DecompressionParameter
