"""Built environments by key: where they stand, what makes them ready, and what keeps them so.

Import the submodules: ``layout`` (paths and states), ``records`` (the commit), ``locking``,
``proof`` and ``commit`` (from a private directory to a ready environment), ``bytecode``, ``links``,
``finishing``, ``verify`` and ``repair``, ``collection``, ``alias``, ``editing``.
"""
