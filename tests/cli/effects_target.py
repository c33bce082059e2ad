"""A service whose times and failures are known: effects_target.py MS FAILING TAIL CAPACITY PORT

MS: of each reply. FAILING: share of replies with status 500. TAIL: factor of the time of one reply in fifty. CAPACITY:
replies per second, 0 for any number.
"""

from __future__ import annotations

import asyncio
import random
import sys

REPLY = b"HTTP/1.1 %s\r\nContent-Length: 2\r\n\r\nok"


class Service:
    def __init__(self, ms: float, failing: float, tail: float, capacity: float) -> None:
        self._seconds, self._failing, self._tail, self._capacity = ms / 1000, failing, tail, capacity
        self._free = 0.0
        self._random = random.Random()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                wait = self._seconds * self._random.uniform(0.9, 1.1)
                if self._random.random() < 0.02:
                    wait *= self._tail
                if self._capacity:
                    self._free = max(self._free, clock()) + 1 / self._capacity
                    wait = max(wait, self._free - clock())
                await asyncio.sleep(wait)
                fails = self._random.random() < self._failing
                writer.write(REPLY % (b"500 Internal Server Error" if fails else b"200 OK"))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def main(ms: str, failing: str, tail: str, capacity: str, port: str) -> None:
    service = Service(float(ms), float(failing), float(tail), float(capacity))
    server = await asyncio.start_server(service.serve, "127.0.0.1", int(port), backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
