"""Run servers, each in its own environment: launch, readiness, supervision, logs.

``greenroom up`` starts one supervisor for a declaration (``__main__``, ``supervisor``). It decides
by a machine without side effects (``machine``, ``fleet``) and owns no process itself: a guardian
(``guardian``) starts them, ends whole trees of them, and kills them all when the supervisor is gone.
Other terminals speak with the supervisor through a socket that only its user can open
(``control``, ``client``).
"""
