"""A peer at the port of a master that is no worker: one without the token, or one with it that sends what no worker
does."""

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from plimsoll._engine import now
from plimsoll.run.dispatch import NATIVE_USER, UserClass
from plimsoll.run.transport.frames import MAX_FRAME_BYTES, pack, pack_report
from plimsoll.run.transport.greeting import Channel, greet
from plimsoll.run.transport.messages import Begin, EncodedSnapshot, Ending, News, Prepared, Ready

HOST = "evil"
"""As it calls itself."""
WORDS = "EVIL WORDS"
"""In every text that it sends."""
SLOW_S = 0.3
ENDLESS_FRAME = b"\xff\xff\xff\xff"
PREPARED = pack_report(Prepared({"exit_code_on_error": 77, "logfile": f"/{WORDS}", "such": 1}))
READY = pack_report(Ready([UserClass(NATIVE_USER)], True, [f"{WORDS} < 1"], None, True, {"title": WORDS}))
SNAPSHOT = EncodedSnapshot(0, 0, 5, [], [], [], [], {})


class FakeJoiner:
    """port: the master's, on this machine. Its methods return when the other side ends the connection, or soon."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), 10)

    def say(self, *data: bytes, pause: float = 0.0) -> None:
        """Without a token."""
        with contextlib.suppress(OSError), self.connect() as connection:
            for part in data:
                connection.sendall(part)
                time.sleep(pause)
            connection.settimeout(2)
            connection.recv(1 << 16)

    def guess(self, tries: int) -> None:
        for number in range(tries):
            with contextlib.suppress(Exception), contextlib.closing(Channel(self.connect())) as channel:
                greet(channel, HOST, f"a wrong token {number}", has_files=True)

    def join(self) -> Channel:
        channel = Channel(self.connect())
        greet(channel, HOST, self._token, has_files=True)
        channel.send("kept", b"")
        return channel

    def say_joined(self, *data: bytes) -> None:
        """As a machine that has joined."""
        with contextlib.suppress(OSError), contextlib.closing(self.join()) as channel:
            for part in data:
                channel.connection.sendall(part)
            channel.connection.settimeout(5)
            while channel.connection.recv(1 << 16):
                pass

    def take_part(self, stream: Callable[[int], bytes], *, begins: bool) -> None:
        """Join, and send this as the worker of a run. stream: by the index of the worker. begins: once the load has
        begun; else as the first of all."""
        with contextlib.suppress(OSError, EOFError), contextlib.closing(self.join()) as channel:
            while True:
                match channel.receive(MAX_FRAME_BYTES):
                    case "clock", []:
                        channel.send("clock", now())
                    case "start", [index, ticket, _]:
                        with (
                            contextlib.suppress(OSError, EOFError),
                            contextlib.closing(Channel(self.connect())) as worker,
                        ):
                            worker.send("stream", ticket)
                            _await_start(worker, begins)
                            worker.send_packed(stream(index))
                            while worker.connection.recv(1 << 16):
                                pass
                    case "quit", []:
                        return


def _await_start(worker: Channel, begins: bool) -> None:
    """Answer as a worker does, up to the first order or to the start of the load."""
    while True:
        match worker.receive(MAX_FRAME_BYTES)[0]:
            case "prepare" if not begins:
                return
            case "init":
                worker.send_packed(PREPARED)
            case "open":
                worker.send_packed(READY)
            case "start":
                return


def without_token(chance: Random) -> dict[str, Callable[[FakeJoiner], None]]:
    """What a peer without the token does, by the name of the attempt."""
    noise = chance.randbytes(chance.randrange(1, 4000))
    return {
        "noise": lambda fake: fake.say(noise),
        "a huge frame": lambda fake: fake.say(ENDLESS_FRAME, noise),
        "half a frame": lambda fake: fake.say(b"\0\0\1\0" + noise[:100]),
        "slow bytes": lambda fake: fake.say(*[b"\0"] * 20, pause=SLOW_S),
        "a greeting of wrong types": lambda fake: fake.say(pack("hello", 1, [WORDS], None, "yes")),
        "a stream without a worker": lambda fake: fake.say(pack("stream", noise)),
        "reports before a greeting": lambda fake: fake.say(PREPARED, READY),
        "wrong tokens": lambda fake: fake.guess(chance.randrange(1, 6)),
        "HTTP": lambda fake: fake.say(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
    }


def for_machines(chance: Random) -> dict[str, bytes]:
    """What a peer with the token sends instead of the answers of a machine, by the name of the attempt."""
    return {
        "noise after joining": chance.randbytes(chance.randrange(8, 4000)),
        "a huge frame after joining": ENDLESS_FRAME,
        "an exit of no worker": pack("exited", WORDS),
        "clocks that nobody asked for": pack("clock", 5) * 100,
        "an unknown message": pack("such", WORDS),
    }


def for_workers(chance: Random) -> dict[str, Callable[[int], bytes]]:
    """What a peer with the token sends as a worker of a run, by the name of the attempt."""

    def always(data: bytes) -> Callable[[int], bytes]:
        return lambda _: data

    def snapshot(**changes: Any) -> Callable[[int], bytes]:
        return lambda index: pack_report(replace(SNAPSHOT, worker=index, **changes))

    cell = (1 << 40, "GET", WORDS, "success", *[1] * 14, b"none", b"none", b"")
    return {
        "noise": always(ENDLESS_FRAME[:1] + chance.randbytes(chance.randrange(8, 4000))),
        "a huge frame": always(ENDLESS_FRAME),
        "a beginning too many": always(PREPARED + READY + PREPARED),
        "an end that nobody asked for": always(pack_report(Ending(now(), 77, True, 78))),
        "an error": always(pack("refused", "PlimsollError", WORDS, 0)),
        "users for everybody": always(pack_report(Begin(10**9, 1e9, None))),
        "news of wrong types": always(pack_report(News("heartbeat", [WORDS]))),
        "news without a name": always(pack_report(News("report", [b"x"]))),
        "figures of another worker": lambda index: pack_report(replace(SNAPSHOT, worker=index + 1)),
        "a snapshot out of order": snapshot(sequence=7),
        "figures of no second": snapshot(intervals=[cell]),
        "a snapshot of wrong types": always(pack("snapshot", *[WORDS] * 10)),
        "a number beyond all bounds": always(pack("sent", 5, 2**64 - 1)),
        "an unknown message": always(pack("such", WORDS)),
    }
