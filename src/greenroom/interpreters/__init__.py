"""Which interpreter a component gets, and what an interpreter is.

Import the submodules: ``requests`` (pure rules), ``discovery`` (finding and asking), ``model`` (what
an interpreter says of itself).
"""
