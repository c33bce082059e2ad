"""The slowest requests of a run, with the traces by which the target's side knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.record import TRACEPARENT
from plimsoll.record.observed import ObservedSource, SlowRequest
from plimsoll.run.coordinator.progress import Observed, Observer

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.record import TracedRequest
    from plimsoll.run.coordinator.progress import Progress

MOST = 20


class SlowRequests(Observer):
    """Keeps the slowest of what the workers hand over. Nothing of the warm-up is in it."""

    def __init__(self, server_ms: Callable[[str], float | None]) -> None:
        """server_ms: what the target itself took for a trace, if its own spans say so."""
        self._server_ms = server_ms
        self._kept: list[TracedRequest] = []
        self._known: dict[str, float] = {}
        """ms by trace. They are looked up while the run goes on: later the oldest are forgotten."""

    def second(self, progress: Progress) -> None:
        self._kept = sorted([*self._kept, *progress.batch.traced], key=lambda each: -each.response_ms)[:MOST]
        self._look_up()

    def reset_at(self, second: int) -> None:
        self._kept = [each for each in self._kept if each.second >= second]

    def finish(self) -> Observed:
        """All of it, after the target's side has sent its last spans."""
        if not self._kept:
            return Observed()
        self._look_up()
        slowest = (request._replace(server_ms=self._known.get(request.trace)) for request in self._kept)
        return Observed(facts={TRACEPARENT: ObservedSource(slowest=tuple(map(SlowRequest.of, slowest)))})

    def _look_up(self) -> None:
        found = {each.trace: self._known.get(each.trace, self._server_ms(each.trace)) for each in self._kept}
        self._known = {trace: ms for trace, ms in found.items() if ms is not None}
