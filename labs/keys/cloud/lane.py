"""The service times and the queue of the cloud service."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from enum import Enum


class Call(Enum):
    """Service times in the queue, in seconds of the published report: its 180 s divided by the number of requests of 10
    users. All users were always waiting, so the queue was never empty."""

    IMPORT = 180 / 207
    GET = 180 / 285
    UPDATE = 180 / 246
    VERSIONS = 180 / 225


DESTROY_SECONDS = 0.45
"""Scheduling a destruction does not use the queue. In the report it took this long at 30 users and at 50."""

SPREAD = 0.3
"""Of the logarithm of a call's time. Some calls take twice as long as others; none takes zero."""


class Lane:
    """Handles one call at a time, in the order of arrival."""

    def __init__(
        self, scale: float, seed: int = 1, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """scale: seconds here per second of the report, >= 0. seed: of the random call times."""
        self._scale = scale
        self._random = random.Random(seed)
        self._sleep = sleep
        self._lock = asyncio.Lock()

    async def call(self, call: Call) -> None:
        """Wait in the queue, then hold it for the call's time."""
        async with self._lock:
            await self._sleep(self._duration(call.value))

    async def destroy(self) -> None:
        """Take time without the queue."""
        await self._sleep(self._duration(DESTROY_SECONDS))

    def _duration(self, mean: float) -> float:
        # A lognormal distribution with mean 1 has the location -σ²/2.
        return self._scale * mean * self._random.lognormvariate(-(SPREAD**2) / 2, SPREAD)
