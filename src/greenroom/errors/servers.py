"""Errors of servers: what keeps one from starting, running or being found."""

from __future__ import annotations

__all__: list[str] = []
