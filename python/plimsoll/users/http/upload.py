"""Request bodies that are sent while they are made or read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
from greenlet import GreenletExit, getcurrent
from requests.exceptions import UnrewindableBodyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from greenlet import greenlet

    from plimsoll._engine import Client, Reply
    from plimsoll.users.hub import Hub

STREAK = 16
"""Parts that are sent before other users run, however fast they are made."""


def _send_parts(parts: Iterable[bytes], hub: Hub, client: Client, number: int) -> None:
    """Send each part when it comes, as fast as the peer takes them. Without a need for the rest it is not asked for."""
    for streak, part in enumerate(parts, 1):
        if not client.write(number, part):
            return
        if streak % STREAK == 0:
            gevent.sleep(0)
        client.wait_until_written(hub.greenlet, number)
    client.finish_writing(number)


class Upload:
    """Sends the parts of one request in its user's greenlet, as requests does; then waits for the response.

    The response may come earlier. If it is complete, the rest is not sent.
    """

    def __init__(self, parts: Callable[[], Iterator[bytes]], length: int | None, file: Any = None) -> None:
        """parts: reads the body. length: bytes that the head announces. file: what the parts are read from."""
        self.error: OSError | None = None
        """Why the body could not be read. The exchange has failed with it."""
        self.parts = parts
        self._length = length
        self._file = file
        self._start = _position(file)
        self._reply: Reply | None = None
        self._waiter: greenlet | None = None

    @property
    def waiter(self) -> Any:
        """What the engine hands the Reply to."""
        return self

    def run(self, hub: Hub, client: Client, number: int) -> Reply:
        """Send the parts of the exchange with this id, whose head is on its way.

        Raises what reading them raises, except for OSError: that is the failure of the exchange.
        """
        try:
            _send_parts(self._checked(), hub, client, number)
        except OSError as error:
            if (reply := client.abort(number, repr(error))) is not None:
                self.error = error
                return reply
        while self._reply is None:
            self._waiter = getcurrent()
            try:
                hub.wait()
            finally:
                self._waiter = None
        return self._reply

    def switch(self, reply: Reply) -> None:
        """Called by the engine."""
        self._reply = reply
        if self._waiter is not None:
            self._waiter.switch()

    def again(self) -> Upload:
        """The same body for another request. Raises UnrewindableBodyError if it cannot be read again."""
        try:
            self._file.seek(self._start)
        except (AttributeError, OSError, TypeError) as error:
            raise UnrewindableBodyError("payload cannot be rewound and resent after a redirect") from error
        return Upload(self.parts, self._length, self._file)

    def _checked(self) -> Iterator[bytes]:
        """The parts. Raises OSError if they are longer or shorter than the head announces."""
        length, sent = self._length, 0
        for part in self.parts():
            sent += len(part)
            if length is not None and sent > length:
                raise OSError(f"the body of the request has more than the {length} bytes that its Content-Length says")
            yield part
        if length is not None and sent < length:
            raise OSError(f"the body of the request has ended after {sent} of the {length} bytes of its Content-Length")


def _position(file: Any) -> Any:
    try:
        return file.tell()
    except (AttributeError, OSError):
        return None


class BackgroundUpload:
    """Sends the parts of one request in a greenlet of its own, each when its generator yields it, while the user waits
    for the response. A generator may wait for what the user does with the response so far."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.error: BaseException | None = None
        """What the generator has raised. The waiting user gets it."""
        self._parts = parts
        self._sender: gevent.Greenlet[[Client, int], None] | None = None
        self._waiter: greenlet | None = None

    @property
    def waiter(self) -> Any:
        """What the engine hands the Reply to."""
        return getcurrent()

    def run(self, hub: Hub, client: Client, number: int) -> Reply:
        """Send the parts of the exchange with this id, whose head is on its way. Returns when the Reply has come."""
        self._hub = hub
        self._sender = gevent.spawn(self._send, client, number)
        reply: Reply = self.wait()
        return reply

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

    def _send(self, client: Client, number: int) -> None:
        try:
            _send_parts(self._parts, self._hub, client, number)
        except GreenletExit:
            return
        except BaseException as error:
            self.error = error
            # The hub switches: from here, this greenlet would stay behind.
            self._hub.greenlet.loop.run_callback(self._interrupt)

    def _interrupt(self) -> None:
        if self._waiter is not None and self.error is not None:
            self._waiter.throw(self.error)
