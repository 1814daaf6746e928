"""The only door to uv: where it is, its arguments, its surroundings, its processes, its secrets.

Import the submodules: ``binary`` finds it, ``commands`` spells its arguments, ``settings`` makes its
configuration and environment, ``process`` runs it, ``secrets`` hides credentials.
"""
