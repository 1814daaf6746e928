"""The loop: what was closed amid a round is not called, what is ready next is."""

from __future__ import annotations

import os
import signal

from greenroom.servers.loop import Loop


def test_one_that_another_closed_is_not_called_in_the_same_round() -> None:
    loop = Loop()
    called: list[str] = []
    first, second = os.pipe(), os.pipe()

    def close(name: str, other: int) -> None:
        called.append(name)
        for descriptor in (first[0], second[0]):
            loop.forget(descriptor)
        os.close(other)
        loop.stop()

    loop.watch(first[0], reading=lambda: close("first", second[0]))
    loop.watch(second[0], reading=lambda: close("second", first[0]))
    for _, writing in (first, second):
        os.write(writing, b"x")
    loop.run()
    loop.close()
    assert len(called) == 1
    for descriptor in (*first, *second):
        if descriptor != (second[0] if called == ["first"] else first[0]):
            os.close(descriptor)


def test_timers_are_called_in_their_order_and_a_cancelled_one_is_not() -> None:
    loop = Loop()
    called: list[str] = []
    loop.after(0.02, lambda: called.append("late"))
    loop.after(0.02, loop.stop)
    loop.after(0.01, lambda: called.append("cancelled")).cancel()
    loop.after(0, lambda: called.append("early"))
    loop.run()
    loop.close()
    assert called == ["early", "late"]


def test_a_signal_is_an_event_among_others() -> None:
    loop = Loop()
    called: list[int] = []
    before = signal.getsignal(signal.SIGUSR1)
    try:
        loop.on_signals((signal.SIGUSR1,), called.append)
        loop.after(0.2, loop.stop)
        os.kill(os.getpid(), signal.SIGUSR1)
        loop.run()
        loop.close()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert called == [signal.SIGUSR1]
