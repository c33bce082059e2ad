"""How a worker that joins over TCP and its master recognize each other, in the frames of `frames`.

    worker → master    hello VERSION HOST NONCE HAS-FILES PYTHON
    master → worker    challenge NONCE · refused ERROR · wait SECONDS
    worker → master    proof PROOF
    master → worker    joined PROOF · refused ERROR · wait SECONDS

A proof is an HMAC of both nonces with the token that both sides have. Without a token it proves nothing. `wait` comes
after wrong proofs from the same address: the worker may try again then.
"""

from __future__ import annotations

import contextlib
import hmac
import platform
import re
import secrets
import socket
import struct
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from plimsoll.distribution import NAME
from plimsoll.errors import UsageError
from plimsoll.plain_text import printable
from plimsoll.run.transport.admission import LONGEST_LOCK_S, MustWaitError
from plimsoll.run.transport.frames import Frames, pack, pack_error
from plimsoll.run.transport.handle import READ_BYTES
from plimsoll.run.transport.report_rules import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    Frame = tuple[str, list[Any]]
    Judge = Callable[[Callable[[], bool]], bool]

GREETING_TIMEOUT_S = 10.0
MAX_GREETING_BYTES = 1 << 16
"""Bytes that a side which is not recognized yet may send."""
NONCE_BYTES = 32
SEND_TIMEOUT_S = 20
LONGEST_NAME = 64
LONGEST_REFUSAL = 1000
"""Characters."""
MASTER, WORKER = b"master", b"worker"
_KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}
"""Seconds, seconds, probes, milliseconds: a peer that cannot be reached is noticed within 20 s."""


class Channel:
    """A connected socket, frame by frame. One thread receives; any thread sends."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._frames = Frames(MAX_GREETING_BYTES)
        self._received: deque[Frame] = deque()
        self._sending = threading.Lock()

    def send(self, name: str, *arguments: Any) -> None:
        """Raises OSError."""
        self.send_packed(pack(name, *arguments))

    def send_packed(self, frame: bytes) -> None:
        """Raises OSError."""
        with self._sending:
            self.connection.sendall(frame)

    def receive(self, limit: int = MAX_GREETING_BYTES, end: float | None = None) -> Frame:
        """The next frame. limit: bytes that it may have. end: by time.monotonic(), until when it must be there. Raises
        OSError, EOFError at the end of the stream, and ProtocolError."""
        self._frames.limit = limit
        while not self._received:
            if end is not None:
                self.connection.settimeout(max(0.001, end - time.monotonic()))
            if not (data := self.connection.recv(min(READ_BYTES, limit))):
                raise EOFError
            self._received.extend(self._frames.feed(data))
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


def limit_sending(connection: socket.socket) -> None:
    """A peer that takes nothing in is given up as one that cannot be reached, and not waited for."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", SEND_TIMEOUT_S, 0))


def greet(channel: Channel, host: str, token: str, *, has_files: bool) -> None:
    """As a worker on this host. has_files: it has the locustfile itself. Raises PlimsollError if the master wants none
    like this one; MustWaitError; OSError, EOFError and ProtocolError if it is no master."""
    ours = secrets.token_bytes(NONCE_BYTES)
    end = time.monotonic() + GREETING_TIMEOUT_S
    channel.connection.settimeout(GREETING_TIMEOUT_S)
    channel.send("hello", version(NAME), host, ours, has_files, platform.python_version())
    theirs = _nonce(_expect("challenge", channel.receive(end=end)))
    channel.send("proof", _proof(token, WORKER, ours, theirs))
    proof = _nonce(_expect("joined", channel.receive(end=end)))
    channel.connection.settimeout(None)
    if not hmac.compare_digest(proof, _proof(token, MASTER, ours, theirs)):
        raise UsageError("the master has another token (--join-token)")


@dataclass(frozen=True, slots=True)
class Hello:
    """What a worker says first."""

    version: str
    host: str
    nonce: bytes
    has_files: bool
    python: str

    @classmethod
    def of(cls, frame: Frame) -> Hello:
        """Raises ProtocolError."""
        match frame:
            case (
                "hello",
                [str(theirs), str(host), bytes(nonce), bool(has_files), str(python)],
            ) if len(nonce) == NONCE_BYTES:
                # Anybody may say this, and it goes to terminals and reports: it has no room for a sentence.
                return cls(_plain(theirs), _plain(host), nonce, has_files, _plain(python))
        raise ProtocolError("no greeting")


def admit(
    channel: Channel, hello: Hello, token: str, judge: Judge = lambda is_right: is_right(), refusal: str = "",
    end: float | None = None,
) -> None:  # fmt: skip
    """As the master. judge: whether the proof is right; may raise MustWaitError before it looks. refusal: why no worker
    is taken, whatever it proves. end: by time.monotonic(). Raises UsageError, after the worker knows it, ProtocolError,
    OSError and EOFError."""
    if hello.version != (own := version(NAME)):
        raise _refused(channel, f"{hello.host} has Plimsoll {hello.version}, the master {own}: install the same")
    ours = secrets.token_bytes(NONCE_BYTES)
    channel.send("challenge", ours)
    proof = _nonce(_expect("proof", channel.receive(end=end)))
    try:
        is_right = judge(lambda: hmac.compare_digest(proof, _proof(token, WORKER, hello.nonce, ours)))
    except MustWaitError as error:
        channel.send("wait", error.seconds)
        raise UsageError(f"{hello.host} must wait for {error}: a wrong token came from its address") from error
    if not is_right:
        raise _refused(
            channel,
            f"the worker on {hello.host} has another token than the master (--join-token): set PLIMSOLL_JOIN_TOKEN to "
            "the same on both sides",
        )
    if refusal:
        raise _refused(channel, refusal)
    channel.send("joined", _proof(token, MASTER, hello.nonce, ours))


def _refused(channel: Channel, why: str) -> UsageError:
    """The error, once the worker knows it."""
    error = UsageError(why)
    with contextlib.suppress(OSError):
        channel.send("refused", *pack_error(error))
    return error


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._:+-]", "_", text[:LONGEST_NAME])


def _proof(token: str, side: bytes, workers: bytes, masters: bytes) -> bytes:
    return hmac.digest(token.encode(), side + workers + masters, "sha256")


def _nonce(arguments: list[Any]) -> bytes:
    match arguments:
        case [bytes(data)] if len(data) == NONCE_BYTES:
            return data
    raise ProtocolError("no nonce, and no proof")


def _expect(name: str, frame: Frame) -> list[Any]:
    """Of what a master says, and of the proof of a worker."""
    match frame:
        case "refused", [str(), str(text), int()]:
            # Any program that answers at this address may send it.
            raise UsageError(printable(text[:LONGEST_REFUSAL]))
        case "wait", [float(seconds)]:
            raise MustWaitError(min(max(0.0, seconds), LONGEST_LOCK_S))
        case found, arguments if found == name:
            return arguments
    raise ProtocolError(f"something else than {name}")
