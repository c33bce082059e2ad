"""A small HTTP server in a thread, for services whose behaviour is known."""

from __future__ import annotations

import asyncio
import contextlib
import threading


class Service:
    """On a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self.url = ""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(10)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    async def _reply(self, path: str, writer: asyncio.StreamWriter) -> bool:
        """Write the reply to a request. Returns whether the connection stays open."""
        raise NotImplementedError

    async def _main(self, ready: threading.Event) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await self._end.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                stays = await self._reply(head.split()[1].decode(), writer)
                await writer.drain()
                if not stays:
                    break
        writer.close()
