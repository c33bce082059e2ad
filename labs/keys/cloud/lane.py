"""How long the cloud service takes, and that it queues."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from enum import Enum


class Call(Enum):
    """What holds the lane, and how long, in seconds of the published report.

    They are its 180 s divided by the requests that 10 users got through: all were always waiting, so the lane was never
    empty."""

    IMPORT = 180 / 207
    GET = 180 / 285
    UPDATE = 180 / 246
    VERSIONS = 180 / 225


DESTROY_SECONDS = 0.45
"""Scheduling a destruction does not go through the lane: in the report it took this long at 30 users and at 50."""

SPREAD = 0.3
"""Of the logarithm of a call's time: some take twice as long as others, none takes none."""


class Lane:
    """One call after the other, in the order of arrival."""

    def __init__(
        self, scale: float, seed: int = 1, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """scale: seconds here per second of the report, >= 0. seed: of how long single calls take."""
        self._scale = scale
        self._random = random.Random(seed)
        self._sleep = sleep
        self._lock = asyncio.Lock()

    async def call(self, call: Call) -> None:
        """Wait for the lane, and hold it as long as this takes."""
        async with self._lock:
            await self._sleep(self._duration(call.value))

    async def destroy(self) -> None:
        """Take time, and no lane."""
        await self._sleep(self._duration(DESTROY_SECONDS))

    def _duration(self, mean: float) -> float:
        # A lognormal of mean 1 has the location -σ²/2.
        return self._scale * mean * self._random.lognormvariate(-(SPREAD**2) / 2, SPREAD)
