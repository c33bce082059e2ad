"""gevent's hub and the engine in one thread: a greenlet sends, sleeps in the hub, and wakes up with the Reply.

Only for greenlets that nothing else switches to in the meantime.
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
    """Connects the engine to gevent's loop. Belongs to the thread that creates it.

    The engine's waiters are greenlets, or objects with a `switch` that does not block.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.greenlet = gevent.get_hub()
        """The greenlet of gevent's loop."""
        # greenlet's plain switch: gevent's own adds checks that cost a tenth of a whole request.
        self.wait: Callable[[], Reply] = greenlet.switch.__get__(self.greenlet)
        """Sleep until the engine's reply to the request of this greenlet. Not for the hub's own callbacks."""
        self.backs_off = False
        """Whether a user whose WebSocket was refused waits before it tries again, as the engine's clients do."""
        self.backed_off = 0
        """ns that users have waited because of that."""
        self._watcher = self.greenlet.loop.io(engine.fileno(), READABLE)

    @property
    def all_backed_off(self) -> int:
        """ns that users have waited because they could not connect."""
        return self.engine.backed_off + self.backed_off

    def start(self) -> None:
        """Start the delivery of replies."""
        self._watcher.start(self.engine.deliver)

    def stop(self) -> None:
        """Stop the delivery of replies; waiting greenlets stay waiting."""
        self._watcher.stop()


_current: Hub | None = None


def current() -> Hub:
    """The hub for sessions without an Environment; created and started on first use."""
    global _current
    if _current is None:
        engine = Engine()
        engine.connect_backoff = True
        if (allowed := machine_rails().allowed_hosts()) is not None:
            engine.allow(allowed)
        _current = Hub(engine)
        _current.backs_off = True
        _current.start()
    return _current


def sleep_until(hub: Hub, due: int) -> None:
    """Let others run until the monotonic clock reaches due (ns).

    The engine's timers have the kernel's precision. Those of gevent's loop are up to a millisecond late, which would
    count as the generator's lag on the first request after every wait.
    """
    hub.engine.sleep_until(hub.greenlet, due)


def yield_to_others() -> None:
    """Let every other ready greenlet run once."""
    loop_greenlet = gevent.get_hub()
    callback = loop_greenlet.loop.run_callback(getcurrent().switch)
    try:
        loop_greenlet.switch()
    finally:
        callback.stop()
