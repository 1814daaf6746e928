"""Tie the parts together: declaration, locks, keys, store and builder.

The public names live in :mod:`greenroom.project.facade` and :mod:`greenroom.project.environment`.
"""
