"""gevent's hub and the engine in one thread: a greenlet sends, sleeps in the hub, and wakes up with the Reply.

Only for greenlets that nothing else switches to meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent
from greenlet import getcurrent, greenlet

from plimsoll._engine import Engine
from plimsoll.load.limits_file import machine_rails

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll._engine import Reply

READABLE = 1


class Hub:
    """Lets gevent's loop watch the engine. Belongs to the thread that makes it.

    The engine's waiters are greenlets, or what has their `switch` and does not block in it.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        loop_greenlet = gevent.get_hub()
        # The plain switch of greenlet: gevent's own adds checks that cost a tenth of what a request has in all.
        self.wait: Callable[[], Reply] = greenlet.switch.__get__(loop_greenlet)
        """Sleep until the engine's answer to what this greenlet has just sent. Not for the hub's own callbacks."""
        self._watcher = loop_greenlet.loop.io(engine.fileno(), READABLE)

    def start(self) -> None:
        """Deliver replies from now on."""
        self._watcher.start(self._deliver)

    def stop(self) -> None:
        """Deliver no more; greenlets that still wait are left waiting."""
        self._watcher.stop()

    def _deliver(self) -> None:
        engine = self.engine
        engine.poll()
        for waiter, reply in engine:
            waiter.switch(reply)


_current: Hub | None = None


def current() -> Hub:
    """The hub for sessions without an Environment; made and started when it is first needed."""
    global _current
    if _current is None:
        engine = Engine()
        engine.connect_backoff = True
        if (allowed := machine_rails().allowed_hosts()) is not None:
            engine.allow(allowed)
        _current = Hub(engine)
        _current.start()
    return _current


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
    loop_greenlet = gevent.get_hub()
    callback = loop_greenlet.loop.run_callback(getcurrent().switch)
    try:
        loop_greenlet.switch()
    finally:
        callback.stop()
