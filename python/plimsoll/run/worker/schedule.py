"""The arrivals of one worker in the open model: its shares of those of the run, and when they come."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Protocol

from plimsoll._engine import Arrivals, now
from plimsoll.load.spec import ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.worker.script import ProcessPlace


class OpenPopulation(Protocol):
    """Users that wait for arrivals."""

    def arrive_instead(self, streams: Iterable[tuple[Arrivals, int]], stamp: int) -> None:
        """These arrivals come in place of those from the stamp on; each with the stamp of its time 0."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Arrivals of all workers. stream: number of its random stream. start: a stamp. limit: maximum number of arrivals
    over all workers."""

    shape: ShapeSpec
    poisson: bool
    stream: int
    start: int
    limit: int | None = None


class ArrivalSchedule:
    """The arrivals that one worker has; they change while the run goes on."""

    def __init__(self, plan: RunPlan, place: ProcessPlace) -> None:
        """plan: of the open model, as it is carried out."""
        assert plan.load is not None
        self._load = plan.load
        self._seed = plan.seed
        self._offers = 0
        self._streams: list[Scheduled] = []
        self._shares: Sequence[tuple[int, int]] = [(place.index, place.workers)]
        """Which of them this process has."""
        self._first = 0
        """The stamp of the first arrival that may be its own."""

    def begin(self, users: OpenPopulation, epoch: int, first: int) -> None:
        """Second 0 of the run is at the stamp `epoch`; arrivals start with those due from the stamp `first` on."""
        # With several phases the population counts; a single stream can limit itself, exact to the last arrival.
        limit = self._load.iterations if len(self._load.phases) == 1 else None
        self._streams = [
            Scheduled(phase.shape, phase.poisson, number, epoch + round(phase.start * 1e9), limit)
            for number, phase in enumerate(self._load.phases)
        ]
        self._first = first
        self._play(users, first, dict.fromkeys(self._shares, first))

    def offer(self, users: OpenPopulation, rate: float, start: int, seconds: float | None) -> None:
        """Replace the planned arrivals by this rate from the stamp `start` on, for so many seconds; None: no end."""
        self._offers += 1
        shape = ShapeSpec.of("constant", level=rate, seconds=seconds)
        phases = self._load.phases
        self._streams = [Scheduled(shape, phases[-1].poisson, len(phases) + self._offers, start)]
        start = max(start, self._first)
        self._play(users, start, dict.fromkeys(self._shares, start))

    def assign(self, users: OpenPopulation, shares: Sequence[tuple[int, int]], start: int) -> None:
        """Have these shares of the arrivals from the stamp `start` on; (index, of): every `of`-th from `index` on."""
        before, self._shares = self._shares, [(index, of) for index, of in shares]
        start = max(start, self._first)
        # An order that is late must not make arrivals come twice.
        cut = max(start, now())
        self._play(users, cut, {share: cut if share in before else start for share in self._shares})

    def _play(self, users: OpenPopulation, cut: int, begins: Mapping[tuple[int, int], int]) -> None:
        """In place of what comes from the stamp `cut` on, the arrivals of these shares, from these stamps on."""
        streams = [
            (self._arrivals_from(begin, stream, *share), stream.start)
            for stream in self._streams
            for share, begin in begins.items()
        ]
        users.arrive_instead(streams, cut)

    def _arrivals_from(self, stamp: int, stream: Scheduled, index: int, of: int) -> Arrivals:
        """The same as `_arrivals`, without those that are due before this stamp."""
        arrivals = self._arrivals(stream, index, of)
        if stamp > stream.start:
            early = sum(1 for _ in takewhile((stamp - stream.start).__gt__, self._arrivals(stream, index, of)))
            next(islice(arrivals, early, early), None)
        return arrivals

    def _arrivals(self, stream: Scheduled, index: int, of: int) -> Arrivals:
        """Every `of`-th arrival from number `index` on."""
        return Arrivals(
            stream.shape.build(),
            poisson=stream.poisson,
            seed=self._seed + stream.stream,
            index=index,
            of=of,
            limit=stream.limit,
        )
