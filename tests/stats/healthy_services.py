"""An HTTP server with twenty kinds of healthy services, a path each. Its random numbers have a fixed seed."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import random
import time
from typing import TYPE_CHECKING, NamedTuple

from tests.stats.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable


class Reply(NamedTuple):
    body: bytes = b'{"ok": true}'
    status: str = "200 OK"
    headers: tuple[str, ...] = ()
    wait_s: float = 0.0
    burn_s: float = 0.0
    """CPU time."""
    is_chunked: bool = False
    closes: bool = False


_random = random.Random(7)
_PAUSE_EVERY_S, _PAUSE_S = 0.5, 0.04


def _around(ms: float, sigma: float) -> float:
    """Lognormal, in seconds."""
    return ms / 1000 * math.exp(sigma * _random.gauss(0, 1))


def _paused() -> Reply:
    """As a collector of garbage does: all requests of a moment wait for its end."""
    into = time.monotonic() % _PAUSE_EVERY_S
    return Reply(wait_s=0.003 + max(0.0, _PAUSE_S - into))


KINDS: dict[str, Callable[[], Reply]] = {
    "instant": Reply,
    "fixed-5": lambda: Reply(wait_s=0.005),
    "fixed-60": lambda: Reply(wait_s=0.06),
    "slow": lambda: Reply(wait_s=_around(800, 0.1)),
    "usual": lambda: Reply(wait_s=_around(20, 0.4)),
    "wide": lambda: Reply(wait_s=_around(15, 1.0)),
    "long-tail": lambda: Reply(wait_s=min(1.0, 0.005 * _random.paretovariate(1.6))),
    "cache": lambda: Reply(wait_s=_around(3, 0.2) if _random.random() < 0.8 else _around(40, 0.2)),
    "uniform": lambda: Reply(wait_s=_random.uniform(0.001, 0.1)),
    "sizes": lambda: Reply(b"q" * int(100 * 10 ** (2.5 * _random.random())), wait_s=_around(10, 0.3)),
    "large": lambda: Reply(b"z" * 200_000, wait_s=_around(15, 0.2)),
    "zipped": lambda: Reply(
        gzip.compress(json.dumps([_random.random() for _ in range(_random.randrange(20, 60))]).encode()),
        headers=("Content-Encoding: gzip",),
        wait_s=_around(8, 0.2),
    ),
    "chunked": lambda: Reply(b"part " * 50, wait_s=_around(10, 0.2), is_chunked=True),
    "empty": lambda: Reply(b"", "204 No Content", wait_s=_around(6, 0.2)),
    "created": lambda: Reply(b'{"id": %d}' % _random.randrange(10**9), "201 Created", wait_s=_around(12, 0.3)),
    "redirect": lambda: Reply(b"", "302 Found", ("Location: /usual",), wait_s=_around(4, 0.2)),
    "cookies": lambda: Reply(headers=(f"Set-Cookie: s={_random.randrange(10**6)}",), wait_s=_around(9, 0.2)),
    "closing": lambda: Reply(wait_s=_around(8, 0.2), closes=True),
    "pauses": _paused,
    "working": lambda: Reply(burn_s=0.001, wait_s=0.002),
}


class HealthyServices(Service):
    async def _reply(self, path: str, writer: asyncio.StreamWriter) -> bool:
        reply = KINDS[path.strip("/")]()
        until = time.thread_time() + reply.burn_s
        while time.thread_time() < until:
            pass
        if reply.wait_s:
            await asyncio.sleep(reply.wait_s)
        writer.write(_message(reply))
        return not reply.closes


def _message(reply: Reply) -> bytes:
    body, length = reply.body, f"Content-Length: {len(reply.body)}"
    if reply.is_chunked:
        body, length = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), "Transfer-Encoding: chunked"
    lines = [f"HTTP/1.1 {reply.status}", *reply.headers, *(["Connection: close"] if reply.closes else [])]
    if not reply.status.startswith("204"):
        lines.append(length)
    return "\r\n".join([*lines, "", ""]).encode() + body
