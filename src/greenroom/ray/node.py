"""What runs on a node: make environments ready there, or look at them.

``python -m greenroom.ray.node`` reads one request as a line of JSON and answers with lines of JSON:
what happens while it happens, then one result for each environment. It stops when its stdin ends,
so that nothing outlives the agent or the worker that started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from greenroom import __version__
from greenroom.ray import provision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from greenroom.builder.events import Event

__all__ = ["main"]


def main() -> int:
    """Answer one request; the exit status is 0 when everything was answered.

    :returns: the exit status.
    """
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_stop_with_the_caller, daemon=True).start()
    _say({"greenroom": __version__})
    wanted = request["wanted"]
    if request.get("look"):
        results: Iterator[dict[str, Any]] = map(provision.look, wanted)
    else:
        results = provision.provide(wanted, dict(os.environ), _report, prove=bool(request.get("prove")))
    for result in results:
        _say({"result": result})
    return 0


def _stop_with_the_caller() -> None:
    """Interrupt the work when whoever asked for it is gone."""
    while os.read(0, 1 << 12):
        pass
    os.kill(os.getpid(), signal.SIGINT)


def _report(event: Event) -> None:
    """Say what happens, in few words; complete output is in the build's log."""
    kind = type(event).__name__
    if kind in {"Output", "Queued"}:
        return
    words = [kind.lower()]
    words += [str(getattr(event, name)) for name in ("key", "phase", "what", "text") if hasattr(event, name)]
    error = getattr(event, "error", None)
    _say({"event": " ".join(words) + (f": {error}" if error else "")})


def _say(data: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        status = main()
    except KeyboardInterrupt:
        status = 130
    # Not through the interpreter's end: a thread still reads stdin.
    sys.stdout.flush()
    os._exit(status)
