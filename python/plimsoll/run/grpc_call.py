"""A single call of gRPC: a question of our own, apart from the load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll._engine import Engine, Headers, Timeouts, grpc_body, grpc_codes, grpc_headers, grpc_read
from plimsoll.load.protocols.grpc import HTTP2_HINT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll._engine import AllowedHosts, Origin, Reply

OK = "OK"
MOST_BYTES = 64 << 20
"""Bytes of all replies to a question together."""
LOOK_S = 0.1
"""Seconds between looks for the answer."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call."""

    fault: str = ""
    """Why there is no answer of gRPC; "" if there is one."""
    code: str = ""
    """The name of the status code."""
    details: str = ""
    messages: tuple[bytes, ...] = ()
    """Replies, as far as they came."""

    @property
    def wrong(self) -> str:
        """Why the call did not succeed; "": it did."""
        if self.fault or self.code == OK:
            return self.fault
        return f"{self.code}{': ' * bool(self.details)}{self.details}"


def call(
    origin: Origin,
    method: str,
    messages: Sequence[bytes],
    within: float,
    *,
    headers: Iterable[tuple[str, str]] = (),
    allowed: AllowedHosts | None = None,
    most: int = MOST_BYTES,
) -> CallResult:
    """Call `package.Service/Method` with serialized messages, and wait for the end. within: seconds. allowed: where
    connections may be made to; None: anywhere. most: bytes of all replies together. Raises ValueError for headers that
    cannot be sent."""
    engine = Engine(max_body=most, max_decoded=most)
    if allowed is not None:
        engine.allow(allowed)
    lines = Headers([("User-Agent", "plimsoll"), *grpc_headers(), *headers])
    timeouts = Timeouts(within, within, within)
    body = grpc_body(messages, False)
    # Its requests end with the client, so it is kept until the answer has come.
    client = engine.client()
    client.send(None, origin, "POST", f"/{method}", lines, body=body, timeouts=timeouts)
    while True:
        # Not for the whole time: a signal is handled between two looks.
        engine.poll(LOOK_S)
        for _, reply in engine:
            if reply is not None:
                return _answer(reply, most)


def _answer(reply: Reply, most: int) -> CallResult:
    if reply.error is not None:
        return CallResult(reply.error.removesuffix(HTTP2_HINT))
    if reply.status != 200:
        return CallResult(f"status {reply.status}")
    try:
        code, details, messages = grpc_read(reply, most)
    except ValueError as error:
        return CallResult(str(error))
    return CallResult("", grpc_codes()[code], details, tuple(messages))
