"""What the tests stand on: a package index, projects, the installed command, interpreters.

Import as ``from tests.support.x import y``. Fixtures (``tests/conftest.py``):

- ``index``, ``another_index``: :class:`~tests.support.index.Index`, a real index with a namespace
  of its own; ``add_wheel``, ``add_sdist``, ``fault(pattern, status=|slow=|cut=|hang=)``,
  ``require_login``, ``requests``, ``downloads``.
- ``project({"greenroom.toml": "…"}, at="app")`` writes files and returns the directory;
  ``app_path`` is where ``app`` is.
- ``greenroom("sync", status=1)`` and ``uv(…)`` run the installed programs in ``app_path`` with
  the clean variables of ``environ``; ``.start(…)`` does not wait. ``uv_lock(directory)``.
- ``gate``: a build of ``add_sdist(…, gate=gate)`` stands there until ``gate.open()``.
- ``store_path``, ``uv_cache``, ``public_path`` (a directory that other users can enter).

``distributions.write_source`` makes a local source that builds without network.
``capabilities`` and ``pythons`` hold the marks that skip with a reason.

After each test: variables, working directory and temporary files are as they were, and no
process is left, orphans included.
"""
