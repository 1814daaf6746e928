"""Preflight: what would fail later, found now."""
