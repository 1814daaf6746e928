"""The supervisor's one loop: descriptors that become ready, and times that come.

No asyncio: everything here is a descriptor or a deadline, the processes are the guardian's children and
not this one's, and so nothing of its watchers would be used; what is left is this page, which starts in
a millisecond and needs half the memory.
"""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Loop", "Timer"]


class Timer:
    """Something to be called later, unless it is cancelled."""

    __slots__ = ("call", "when")

    def __init__(self, when: float, call: Callable[[], object]) -> None:
        self.when = when
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        """Call it no more."""
        self.call = None


class Loop:
    """Calls back when a descriptor is ready or a time has come; on one thread."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._running = True
        self._wakes: list[int] = []

    def now(self) -> float:
        """Return the loop's clock: monotonic seconds."""
        return time.monotonic()

    def watch(
        self,
        descriptor: int,
        *,
        reading: Callable[[], object] | None = None,
        writing: Callable[[], object] | None = None,
    ) -> None:
        """Call back whenever a descriptor is ready; replaces what was asked for it before."""
        events = (selectors.EVENT_READ if reading else 0) | (selectors.EVENT_WRITE if writing else 0)
        known = self._selector.get_map().get(descriptor)
        if not events:
            if known is not None:
                self._selector.unregister(descriptor)
        elif known is None:
            self._selector.register(descriptor, events, (reading, writing))
        elif known.events != events or known.data != (reading, writing):
            self._selector.modify(descriptor, events, (reading, writing))

    def forget(self, descriptor: int) -> None:
        """Watch a descriptor no more; to be called before it is closed."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(descriptor)

    def at(self, when: float, call: Callable[[], object]) -> Timer:
        """Call at a time of this clock."""
        timer = Timer(when, call)
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Call in so many seconds."""
        return self.at(self.now() + seconds, call)

    def on_signals(self, numbers: tuple[signal.Signals, ...], call: Callable[[int], object]) -> None:
        """Call on this loop, never amid other work, when one of these signals comes."""
        woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else os.pipe()
        self._wakes += [woken, wake]
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda *_: None)

        def read() -> None:
            with suppress(BlockingIOError):
                for number in os.read(woken, 4096):
                    if number in numbers:
                        call(number)

        self.watch(woken, reading=read)

    def on_hangup(self) -> None:
        """Go on when the terminal is closed."""
        signal.signal(signal.SIGHUP, lambda *_: None)

    def stop(self) -> None:
        """Return from :meth:`run` after what is being called."""
        self._running = False

    def run(self) -> None:
        """Call back until :meth:`stop`."""
        while self._running:
            for key, events in self._selector.select(self._pause()):
                now_watched = self._selector.get_map().get(key.fd)
                if now_watched is None or now_watched.data is not key.data:
                    continue  # closed or changed by one that was called before
                reading, writing = key.data
                if events & selectors.EVENT_READ and reading is not None:
                    reading()
                elif events & selectors.EVENT_WRITE and writing is not None:
                    writing()
            now = self.now()
            while self._timers and self._timers[0][0] <= now:
                call = heapq.heappop(self._timers)[2].call
                if call is not None:
                    call()

    def close(self) -> None:
        """Give its descriptors back."""
        if self._wakes:
            signal.set_wakeup_fd(-1)
        for descriptor in self._wakes:
            os.close(descriptor)
        self._selector.close()

    def _pause(self) -> float | None:
        while self._timers and self._timers[0][2].call is None:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0][0] - self.now()) if self._timers else None
