"""Environments as one file: packed here, unpacked into a store elsewhere.

An archive is a tar, compressed with zstd, that any ``tar`` can list. Its first member is the manifest:
the environment's record, and every file with size and sha256. The reader believes nothing but the
manifest, which is checked as a whole before anything is written; what follows has to be, byte for
byte, what a writer makes of that manifest.
"""
