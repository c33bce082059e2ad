"""How a worker that joins over TCP and its master recognize each other, in the frames of `frames`.

    worker → master    hello VERSION HOST NONCE HAS-FILES
    master → worker    challenge NONCE · refused ERROR
    worker → master    proof PROOF
    master → worker    joined PROOF · refused ERROR

A proof is an HMAC of both nonces with the token that both sides have. Without a token it proves nothing.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import sys
import threading
from collections import deque
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.report.text import printable
from plimsoll.run.transport.frames import Frames, ProtocolError, pack, pack_error, unpack_error
from plimsoll.run.transport.handle import READ_BYTES

if TYPE_CHECKING:
    Frame = tuple[str, list[Any]]

GREETING_TIMEOUT_S = 10.0
MAX_GREETING_BYTES = 1 << 16
"""Bytes that a side which is not recognized yet may send."""
NONCE_BYTES = 32
LONGEST_NAME = 255
MASTER, WORKER = b"master", b"worker"
_KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}
"""Seconds, seconds, probes, milliseconds: a peer that cannot be reached is noticed within 20 s."""


class Channel:
    """A connected socket, frame by frame. One thread receives; any thread sends."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._frames = Frames()
        self._received: deque[Frame] = deque()
        self._sending = threading.Lock()

    def send(self, name: str, *arguments: Any) -> None:
        """Raises OSError."""
        with self._sending:
            self.connection.sendall(pack(name, *arguments))

    def receive(self, limit: int | None = None) -> Frame:
        """The next frame. limit: bytes that may come for it. Raises OSError, EOFError at the end of the stream, and
        ProtocolError."""
        count = 0
        while not self._received:
            if not (data := self.connection.recv(READ_BYTES)):
                raise EOFError
            count += len(data)
            self._received.extend(self._frames.feed(data))
            if limit is not None and count > limit:
                raise ProtocolError(f"{count} bytes without a greeting")
        return self._received.popleft()

    def close(self) -> None:
        """Also ends a `receive` in another thread."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def tune(connection: socket.socket) -> None:
    """Small frames leave at once, and a peer that is gone is noticed."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        for name, value in _KEEPALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def greet(channel: Channel, host: str, token: str, *, has_files: bool) -> None:
    """As a worker on this host. has_files: it has the locustfile itself. Raises PlimsollError if the master wants none
    like this one; OSError, EOFError and ProtocolError if it is no master."""
    ours = secrets.token_bytes(NONCE_BYTES)
    channel.connection.settimeout(GREETING_TIMEOUT_S)
    channel.send("hello", version("plimsoll"), host, ours, has_files)
    (theirs,) = _expect("challenge", channel.receive(MAX_GREETING_BYTES))
    channel.send("proof", _proof(token, WORKER, ours, theirs))
    (proof,) = _expect("joined", channel.receive(MAX_GREETING_BYTES))
    channel.connection.settimeout(None)
    if not hmac.compare_digest(proof, _proof(token, MASTER, ours, theirs)):
        raise UsageError("the master has another token (--join-token)")


def admit(channel: Channel, hello: list[Any], token: str) -> tuple[str, bool]:
    """As the master. hello: what the worker's first frame has. Returns the worker's host, and whether it has the
    locustfile itself. Raises UsageError, after the worker knows it, ProtocolError, OSError and EOFError."""
    try:
        theirs_version, host, theirs, has_files = hello
        # Anybody may say this, and it goes to a terminal.
        theirs_version, host = (printable(str(each))[:LONGEST_NAME] for each in (theirs_version, host))
        if theirs_version != (own := version("plimsoll")):
            raise UsageError(f"{host} has Plimsoll {theirs_version}, the master {own}: install the same")
        ours = secrets.token_bytes(NONCE_BYTES)
        channel.send("challenge", ours)
        (proof,) = _expect("proof", channel.receive(MAX_GREETING_BYTES))
        if not hmac.compare_digest(proof, _proof(token, WORKER, theirs, ours)):
            raise UsageError(f"the worker on {host} has another token than the master (--join-token)")
    except UsageError as error:
        channel.send("refused", *pack_error(error))
        raise
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"no greeting: {error}") from error
    channel.send("joined", _proof(token, MASTER, theirs, ours))
    return host, bool(has_files)


def _proof(token: str, side: bytes, workers: bytes, masters: bytes) -> bytes:
    return hmac.digest(token.encode(), side + workers + masters, "sha256")


def _expect(name: str, frame: Frame) -> list[Any]:
    found, arguments = frame
    if found == "refused":
        raise unpack_error(arguments)
    if found != name:
        raise ProtocolError(f"{found!r} instead of {name!r}")
    return arguments
