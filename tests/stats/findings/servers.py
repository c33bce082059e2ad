"""A small HTTP server whose paths behave in ways that findings are about, and runs of the command against it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.stats.service import Service

from plimsoll.experiment.study import study_of_run
from plimsoll.stats.study import Level
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.command import Command

    from plimsoll.stats.study import Trial

SERVICE_S = 0.01
"""Of the lane and of the shared capacity, which both serve 100 requests/s."""
COLD_S = 1.0
"""The first second of /cold, in which each reply takes `SLOW_S`."""
SLOW_S = 0.2


class Server(Service):
    """/lane one request after another, /shared all at once, each the slower, /fail HTTP 500, /cold slow in the first
    second after the first request, /fast and /slow as they say, /close ends each connection.
    """

    def __init__(self) -> None:
        self._left: dict[object, float] = {}
        """Seconds of service that requests of /shared still need."""
        self._begun: float | None = None
        self._lane = asyncio.Lock()
        super().__init__()

    async def _reply(self, path: str, writer: asyncio.StreamWriter) -> bool:
        await self._wait(path)
        status = b"500 Internal Server Error" if path == "/fail" else b"200 OK"
        more = b"Connection: close\r\n" if path == "/close" else b""
        writer.write(b"HTTP/1.1 " + status + b"\r\n" + more + b"Content-Length: 5\r\n\r\nhello")
        return path != "/close"

    async def _wait(self, path: str) -> None:
        if path == "/lane":
            async with self._lane:
                await asyncio.sleep(SERVICE_S)
        elif path == "/shared":
            await self._share()
        elif path == "/cold":
            self._begun = self._loop.time() if self._begun is None else self._begun
            await asyncio.sleep(SLOW_S if self._loop.time() < self._begun + COLD_S else 0.005)
        else:
            await asyncio.sleep(0.05 if path == "/slow" else 0.005)

    async def _share(self) -> None:
        """In steps of which all requests in progress get the same part."""
        mine = object()
        self._left[mine] = SERVICE_S
        while self._left[mine] > 0:
            before = self._loop.time()
            await asyncio.sleep(0.002)
            self._left[mine] -= (self._loop.time() - before) / len(self._left)
        del self._left[mine]


def trial_of_last(command: Command, **known: Any) -> Trial:
    """The last run, whatever this machine made of it. known: fields of the Trial."""
    with Store.open(str(command.store), create=False) as store:
        (trial,) = study_of_run(store.run("last"), store).trials
    return replace(trial, invalid=(), **known)


def ladder(command: Command, url: str, users: Sequence[int], *options: str) -> list[Trial]:
    """A run of native users at each level."""
    trials = []
    for many in users:
        command("run", url, "--headless", "-u", str(many), "-r", "1000", *options)
        trials.append(trial_of_last(command, variant="a", level=Level("users", float(many))))
    return trials


def arrivals(command: Command, url: str, rates: Sequence[int], *options: str) -> list[Trial]:
    """The same in the open model."""
    trials = []
    for rate in rates:
        command("run", url, "--headless", "--rate", f"{rate}/s", *options)
        trials.append(trial_of_last(command, variant="a", level=Level("/s", float(rate))))
    return trials
