"""A request body that is sent while it is made, as messages of a gRPC conversation are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
from greenlet import GreenletExit, getcurrent

from plimsoll._engine import now
from plimsoll.users import hub as hubs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenlet import greenlet

    from plimsoll._engine import Client
    from plimsoll.users.hub import Hub

STREAK = 16
"""Parts that are sent before other users run, however fast they are made."""
POLL_NS = 1_000_000
"""How often a peer that takes no more is asked again."""


class Upload:
    """Sends the parts of one request in a greenlet of its own, each when its generator yields it, while the user waits
    for the response. A generator may wait for what the user does with the response so far."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.error: BaseException | None = None
        """What the generator has raised. The waiting user gets it."""
        self._parts = parts
        self._sender: gevent.Greenlet[[], None] | None = None
        self._waiter: greenlet | None = None

    def begin(self, hub: Hub, client: Client, number: int) -> None:
        """Send the parts of the exchange with this id, whose head is on its way."""
        self._hub, self._client, self._number = hub, client, number
        self._sender = gevent.spawn(self._send)

    def wait(self) -> Any:
        """Sleep until the engine switches to this greenlet. Raises what the generator raises meanwhile."""
        if self.error is not None:
            raise self.error
        self._waiter = getcurrent()
        try:
            return self._hub.wait()
        finally:
            self._waiter = None

    def stop(self) -> None:
        """The exchange is over: nobody wants the parts that are left. The generator is closed, also while it waits."""
        if self._sender is not None:
            self._sender.kill(block=False)

    def _send(self) -> None:
        hub, client, number = self._hub, self._client, self._number
        streak = 0
        try:
            for part in self._parts:
                client.write(number, part)
                streak += 1
                if streak % STREAK == 0:
                    gevent.sleep(0)
                while not client.is_written(number):
                    hubs.sleep_until(hub, now() + POLL_NS)
        except GreenletExit:
            return
        except BaseException as error:
            self.error = error
            # The hub switches: from here, this greenlet would stay behind.
            hub.greenlet.loop.run_callback(self._interrupt)
            return
        client.finish_writing(number)

    def _interrupt(self) -> None:
        if self._waiter is not None and self.error is not None:
            self._waiter.throw(self.error)
