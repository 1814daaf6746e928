"""The form of each command's JSON data: what scripts may rely on.

Imported by type checkers and tests only. A key that goes or changes its meaning raises the
envelope's ``schema``; added keys do not.
"""
