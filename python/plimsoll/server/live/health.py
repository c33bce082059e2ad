"""What the workers of a run in progress say of themselves: a line for each, and the seconds of all together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.report.charts.columns import Second
from plimsoll.server.messages import WorkerItem
from plimsoll.stats.view import WINDOW

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from plimsoll.record import Health
    from plimsoll.stats.view import Totals


@dataclass(slots=True)
class _Said:
    """One worker, or all of them, in one second: what comes in several rows is put together."""

    users: int = 0
    in_flight: int = 0
    waiting: int = 0
    offered: int = 0
    dropped: int = 0
    cpu: float = 0.0
    lag: Histogram = field(default_factory=Histogram)
    delay: Histogram = field(default_factory=Histogram)

    def take(self, row: Health) -> None:
        # Only one of the rows carries the worker's state; the others say 0.
        self.users, self.in_flight = max(self.users, row.users), max(self.in_flight, row.in_flight)
        self.waiting, self.cpu = max(self.waiting, row.waiting), max(self.cpu, row.cpu)
        self.offered += row.offered
        self.dropped += row.dropped
        self.lag.add(row.lag)
        self.delay.add(row.delay)


class Workers:
    """The last seconds of each. Not for several threads at a time."""

    def __init__(self) -> None:
        self._seconds: dict[int, dict[int, _Said]] = {}
        self._latest: dict[int, int] = {}
        """The last second that each has told of."""

    def take(self, rows: Iterable[Health]) -> None:
        for row in rows:
            self._latest[row.worker] = max(row.second, self._latest.get(row.worker, -1))
            if row.second > self.last - WINDOW:
                self._seconds.setdefault(row.second, {}).setdefault(row.worker, _Said()).take(row)
        for old in [each for each in self._seconds if each <= self.last - WINDOW]:
            del self._seconds[old]

    @property
    def last(self) -> int:
        """The last second that any has told of; -1 before."""
        return max(self._latest.values(), default=-1)

    def have_told(self, second: int, workers: int) -> bool:
        """Whether so many workers have told of this second."""
        return len(self._seconds.get(second, ())) >= workers

    def second(self, number: int, totals: Totals | None, timed: Container[str]) -> Second:
        """One of the last seconds of all endpoints together."""
        parts = [] if totals is None else [each for each in totals.outcomes.values() if each.outcome in timed]
        response, service, lag, delay = Histogram(), Histogram(), Histogram(), Histogram()
        for part in parts:
            response.add(part.response)
            service.add(part.service)
        workers = list(self._seconds.get(number, {}).values())
        for each in workers:
            lag.add(each.lag)
            delay.add(each.delay)
        requests, failures = (totals.requests, totals.failures) if totals else (0, 0)
        if not workers:
            return Second(number, requests, failures, response, service)
        return Second(
            number,
            requests,
            failures,
            response,
            service,
            users=sum(each.users for each in workers),
            in_flight=sum(each.in_flight for each in workers),
            waiting=sum(each.waiting for each in workers),
            offered=sum(each.offered for each in workers),
            dropped=sum(each.dropped for each in workers),
            lag=lag,
            delay=delay,
            cpu=max(each.cpu for each in workers),
        )

    def items(self, left: int) -> tuple[WorkerItem, ...]:
        """left: how many there still are; the others are those that have not been heard of for longest."""
        heard = sorted(self._latest, key=lambda each: (-self._latest[each], each))
        lost = set(heard[left:])
        return tuple(self._item(each, each in lost) for each in sorted(self._latest))

    def _item(self, index: int, is_lost: bool) -> WorkerItem:
        said = self._seconds.get(self._latest[index], {}).get(index)
        if said is None or is_lost:
            return WorkerItem(index, 0, 0.0, None, None, 0, is_lost)
        lag, delay = (each.value_at(0.99) / 1000 if each.count else None for each in (said.lag, said.delay))
        return WorkerItem(index, said.users, said.cpu, lag, delay, said.in_flight)
