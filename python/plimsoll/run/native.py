"""Native users: one request repeated by users without Python, the yardstick of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent

from plimsoll import __version__
from plimsoll._engine import Headers, NativeUsers, now
from plimsoll.run.address import origin_of, target_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll._engine import Engine, Recorder

NAME = "NativeUser"
"""The class that reports and dispatch know these users by."""

_HEADERS = (("User-Agent", f"plimsoll/{__version__}"), ("Accept", "*/*"), ("Accept-Encoding", "gzip, deflate, br"))
_LOOK = 0.005


class NativePopulation:
    """N closed-loop users that repeat GET url."""

    def __init__(self, engine: Engine, recorder: Recorder, url: str) -> None:
        target = target_of(url)
        self._engine = engine
        self._recorder = recorder
        self._endpoint = recorder.endpoint("GET", target)
        self._users = NativeUsers(engine, recorder, origin_of(url), "GET", target, Headers(_HEADERS))
        self._wanted = 0
        self._cut = False

    def adjust(self, counts: Mapping[str, int]) -> None:
        more = counts[NAME] - self._wanted
        if more < 0:
            raise ValueError("native users end together, not some of them")
        self._users.spawn(more)
        self._wanted += more

    def counts(self) -> dict[str, int]:
        return {NAME: self._users.active}

    def drain(self, timeout: float) -> None:
        self._users.stop()
        end = now() + round(timeout * 1e9)
        while self._users.active and now() < end and not self._cut:
            gevent.sleep(_LOOK)
        for _ in range(self._users.active):
            self._recorder.custom(self._endpoint, None, 0, "cancelled")

    def stop(self) -> None:
        self._cut = True
