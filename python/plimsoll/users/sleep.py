"""Putting the running greenlet to sleep. Only for greenlets that nothing else switches to meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevent import get_hub, getcurrent

if TYPE_CHECKING:
    from plimsoll.users.hub import Hub


def sleep_until(hub: Hub, due: int) -> None:
    """Let others run until the monotonic clock shows due (ns).

    The engine's timers have the kernel's precision. Those of gevent's loop are up to a millisecond late, which would
    count as the generator's lag on the first request after every wait.
    """
    engine = hub.engine
    number = engine.wake(getcurrent(), due)
    try:
        hub.wait()
    except BaseException:
        engine.cancel_wake(number)
        raise


def yield_to_others() -> None:
    """Let every other greenlet that is ready have its turn."""
    loop_greenlet = get_hub()
    callback = loop_greenlet.loop.run_callback(getcurrent().switch)
    try:
        loop_greenlet.switch()
    finally:
        callback.stop()
