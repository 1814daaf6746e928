"""Reads and checks what was declared: tables in, :class:`~greenroom.components.Declaration` out."""
