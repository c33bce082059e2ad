"""One phase of an open-model schedule, played in real time."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from plimsoll._engine import now
from plimsoll.run.worker.population import BATCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.users.hub import Hub

NEVER = 1 << 63
"""A stamp past every run."""


class ArrivalListener(Protocol):
    """Gets the arrivals of a stream. Its methods are called in gevent's hub, where nothing may block."""

    def offer(self, due: int) -> None:
        """An arrival was due at this stamp, which has passed."""

    def ended(self, stream: ArrivalStream) -> None:
        """No more arrivals of this stream; may be repeated."""


class ArrivalStream:
    """The due times of one phase, as stamps. Asks the engine to be woken for each."""

    def __init__(self, taker: ArrivalListener, hub: Hub, dues: Iterator[int]) -> None:
        self._taker = taker
        self._engine = hub.engine
        self._dues = dues
        self._due = next(dues, None)
        """The next one; None: there is no more."""
        self._end = NEVER
        self._wake = 0

    def wait(self) -> None:
        """Have `switch` called when the next arrival is due."""
        self._wake = self._engine.wake(self, self._due or 0)

    def switch(self, _: None = None) -> None:
        """Offer what is due. The hub calls it like a greenlet that waits."""
        for due in self.take_until(now(), BATCH):
            self._taker.offer(due)
        if self._due is None or self._due > self._end:
            self._taker.ended(self)
        else:
            # After a full batch at once, but not before the replies that have come meanwhile.
            self.wait()

    def take_until(self, stamp: int, limit: int = NEVER) -> Iterator[int]:
        """Those due by then, at most `limit`."""
        stamp = min(stamp, self._end)
        while limit and (due := self._due) is not None and due <= stamp:
            limit -= 1
            self._due = next(self._dues, None)
            yield due

    def end_at(self, stamp: int) -> None:
        """Arrivals later than this do not come; those up to it come at once."""
        self._end = stamp
        self._engine.cancel_wake(self._wake)
        self._wake = self._engine.wake(self, stamp)

    def end_before(self, stamp: int) -> None:
        """Arrivals at this stamp or later do not come."""
        self._dues = takewhile(stamp.__gt__, self._dues)
        if self._due is not None and self._due >= stamp:
            self.end()
            self._taker.ended(self)

    def end(self) -> None:
        """Nothing comes any more, `switch` included."""
        self._due = None
        self._engine.cancel_wake(self._wake)
