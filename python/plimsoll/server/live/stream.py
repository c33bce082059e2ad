"""Server-sent events: each viewer gets every snapshot, or only the latest if they are too slow.

Nothing is queued for a viewer, and no viewer blocks another.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from plimsoll.server.answers import to_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.responses import Response

    from plimsoll.server.live.live import Live
    from plimsoll.server.live.snapshot import LiveSnapshot
    from plimsoll.stats.seconds import Key

MOST_VIEWERS = 100
HEARTBEAT_INTERVAL_S = 10.0
"""Seconds without an event after which a comment keeps the connection alive."""
STEP = 0.5
"""Maximum delay in seconds of lines logged between two seconds of a run."""
UPDATE_TIMEOUT_S = 3.0
"""How long a viewer waits for current numbers."""
MOST_TEXTS = 64
BYE = b"event: bye\ndata: {}\n\n"
RELOAD_S = 8.0
"""Time for a browser to reconnect: on a busy machine it takes seconds to reload the page, and after a change of the
network it tries again after 0.5, 1, 2 and 4 s."""
COMMENT = b": still here\n\n"


class Viewers:
    """All viewers of a live run. Used in the server's loop, except for `dismiss`."""

    def __init__(self, live: Live | None) -> None:
        self._live = live
        self._count = 0
        self._left = -math.inf
        """When a browser last left, in seconds of the monotonic clock."""
        self._waiting = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        """Set and replaced at each snapshot."""
        self._is_over = False
        self._texts: dict[tuple[int, Key | None, int | None], bytes] = {}
        """Recent events, shared by viewers of the same endpoint."""

    @property
    def has_any(self) -> bool:
        """Whether a browser shows the run, or did moments ago and may be about to reconnect. From any thread."""
        return self._count > 0 or time.monotonic() - self._left < RELOAD_S

    def response(self, endpoint: Key | None) -> Response:
        """The events about this endpoint, or None for all, until either side ends the stream."""
        if self._count >= MOST_VIEWERS:
            raise HTTPException(503, f"{MOST_VIEWERS} pages look at this run already: close one")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(endpoint), media_type="text/event-stream", headers=headers)

    def dismiss(self) -> None:
        """End all streams with a final event. From any thread."""
        self._is_over = True
        self._call()

    async def fresh(self) -> LiveSnapshot:
        """The latest snapshot, once its numbers are current."""
        live = self._known
        live.look()
        if not live.is_fresh:
            with self._listening(), contextlib.suppress(TimeoutError):
                async with asyncio.timeout(UPDATE_TIMEOUT_S):
                    while not live.is_fresh and not self._is_over:
                        await self._news.wait()
        return live.snapshot

    @property
    def _known(self) -> Live:
        assert self._live is not None
        return self._live

    async def _events(self, endpoint: Key | None) -> AsyncIterator[bytes]:
        self._count += 1
        try:
            with self._listening():
                await run_in_threadpool(self._known.watch, endpoint)
                last = await self.fresh()
                yield self._text(last, endpoint, None)
                silence = 0.0
                while not self._is_over:
                    snapshots = self._known.snapshots_after(last.sequence)
                    if snapshots:
                        silence = 0.0
                        await run_in_threadpool(self._known.watch, endpoint)
                    for snapshot in snapshots:
                        yield self._text(snapshot, endpoint, last)
                        last = snapshot
                    if silence >= HEARTBEAT_INTERVAL_S:
                        silence = 0.0
                        yield COMMENT
                    if last is self._known.snapshot:
                        silence += STEP
                        await self._step()
                # The last snapshots may have arrived together with the end of the process.
                for snapshot in self._known.snapshots_after(last.sequence):
                    yield self._text(snapshot, endpoint, last)
                    last = snapshot
            yield BYE
        finally:
            self._count -= 1
            self._left = time.monotonic()

    async def _step(self) -> None:
        """Wait for news, at most `STEP`."""
        self._known.flush()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), STEP)

    def _text(self, snapshot: LiveSnapshot, endpoint: Key | None, before: LiveSnapshot | None) -> bytes:
        key = snapshot.sequence, endpoint, None if before is None else before.sequence
        text = self._texts.get(key)
        if text is None:
            data = to_json(snapshot.moment(endpoint, before))
            text = b"id: %d\nevent: moment\ndata: %s\n\n" % (snapshot.sequence, data)
            while len(self._texts) >= MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
            self._texts[key] = text
        return text

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Within the block, tables are made and each snapshot wakes the waiting streams."""
        self._loop = asyncio.get_running_loop()
        self._waiting += 1
        if self._waiting == 1:
            self._known.listen(self._call)
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._known.leave(self._call)

    def _call(self) -> None:
        """From any thread."""
        # The loop may just have ended.
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
