"""Realize missing environments in parallel, and write the locks of sources that have none.

Import the submodules: ``syncing`` (environments), ``relocking`` (``greenroom.lock/``), ``events``
(what happens, as facts), ``work`` (what is to be built).
"""
