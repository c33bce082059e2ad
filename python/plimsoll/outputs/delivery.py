"""Brings messages to a receiver that may be slow, refuse them, or be away for a while."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.outputs.output import Output, OutputError, Undelivered
from plimsoll.outputs.transports import RetryError

if TYPE_CHECKING:
    from plimsoll.outputs.output import OutputRun
    from plimsoll.outputs.transports import Transport

logger = logging.getLogger("plimsoll.run")

MOST_BYTES = 32 << 20
"""What is held for a receiver that does not take it; beyond that the oldest messages are dropped."""
JOINED_BYTES = 1 << 20
"""Messages of lines that wait are sent together up to this size."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 15.0
"""Between attempts; each pause is twice as long as the one before."""
LONGEST_ASKED_S = 300.0
"""The longest pause that a receiver can ask for."""
SLOW_S, GATHER_S = 1.0, 0.5
"""After a message that took longer than the first, the next one waits for the second: what came meanwhile is then sent
with it."""


class _Message(NamedTuple):
    content: bytes
    parts: int
    """Seconds and events in it."""


class Delivery:
    """Holds messages until the receiver has them. Not thread-safe."""

    def __init__(self, name: str, transport: Transport, *, is_of_lines: bool) -> None:
        """name: of the output, for log lines. is_of_lines: several messages may be sent as one."""
        self._name = name
        self._transport = transport
        self._is_of_lines = is_of_lines
        self._waiting: deque[_Message] = deque()
        self._bytes = 0
        self._pause_s = 0.0
        self._not_before = 0.0
        """On the monotonic clock: the next attempt."""
        self._gathers_until = 0.0
        """On the monotonic clock: until then messages wait for others, as the receiver is slow."""
        self._is_asked = False
        """The receiver has asked for this pause."""
        self._is_failing = False
        self.unconfirmed = 0
        """Seconds and events that the receiver has not taken: those that are lost, wait, or are on their way."""
        self._reason = ""

    def reach(self) -> None:
        """Raises OutputError if the receiver cannot be reached."""
        try:
            self._transport.reach()
        except RetryError as error:
            self._reason, self._is_failing = str(error), True
            raise

    def put(self, content: bytes, parts: int = 1) -> None:
        """Send it, unless the receiver failed a moment ago; then it waits. parts: seconds and events in it."""
        self._waiting.append(_Message(content, parts))
        self._bytes += len(content)
        self.unconfirmed += parts
        while self._bytes > MOST_BYTES and len(self._waiting) > 1:
            self._take()
        if time.monotonic() >= max(self._not_before, self._gathers_until):
            self._send()

    def flush(self, timeout_s: float) -> Undelivered | None:
        """Try to send what waits within this time, at once unless the receiver has asked for a pause. Returns what was
        not delivered so far."""
        deadline = time.monotonic() + timeout_s
        if not self._is_asked:
            # There may be no time left for the rest of a pause, and the receiver may be back.
            self._not_before = 0.0
        while self._waiting and (now := time.monotonic()) < deadline:
            if self._not_before >= deadline:
                break
            time.sleep(max(0.0, self._not_before - now))
            self._send()
        return Undelivered(self.unconfirmed, self._reason) if self.unconfirmed else None

    def close(self) -> None:
        self._transport.close()

    def _take(self) -> _Message:
        message = self._waiting.popleft()
        self._bytes -= len(message.content)
        return message

    def _send(self) -> None:
        while self._waiting:
            message, began = self._next(), time.monotonic()
            try:
                self._transport.send(message.content)
            except RetryError as error:
                self._waiting.appendleft(message)
                self._bytes += len(message.content)
                self._pause(error)
                return
            except OutputError as error:
                if str(error) != self._reason:
                    logger.warning("%s refuses a message: %s", self._name, error)
                self._reason = str(error)
            else:
                self.unconfirmed -= message.parts
                if self._is_failing:
                    logger.warning("%s takes figures again", self._name)
                self._is_failing = False
            self._pause_s = 0.0
            if time.monotonic() > began + SLOW_S:
                self._gathers_until = time.monotonic() + GATHER_S
                return

    def _pause(self, error: RetryError) -> None:
        if not self._is_failing:
            logger.warning("%s: %s; the run goes on, and its figures are held and sent again", self._name, error)
        self._reason, self._is_failing = str(error), True
        self._pause_s = min(2 * self._pause_s or FIRST_PAUSE_S, LONGEST_PAUSE_S)
        self._is_asked = error.after_s is not None
        pause_s = self._pause_s if error.after_s is None else min(error.after_s, LONGEST_ASKED_S)
        self._not_before = time.monotonic() + pause_s

    def _next(self) -> _Message:
        """The oldest message, with those after it if they can be sent together."""
        message = self._take()
        if not self._is_of_lines or not self._waiting:
            return message
        contents, parts, size = [message.content], message.parts, len(message.content)
        while self._waiting and size + len(self._waiting[0].content) <= JOINED_BYTES:
            following = self._take()
            contents.append(following.content)
            parts += following.parts
            size += len(following.content)
        return _Message(b"".join(contents), parts)


class DeliveredOutput(Output):
    """An output whose messages go through a `Delivery`."""

    _run: OutputRun
    """From `open` on."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery

    def open(self, run: OutputRun) -> None:
        self._run = run
        self._delivery.reach()

    @property
    def unconfirmed(self) -> int:
        return self._delivery.unconfirmed

    def flush(self, timeout_s: float) -> Undelivered | None:
        return self._delivery.flush(timeout_s)

    def close(self) -> None:
        self._delivery.close()
