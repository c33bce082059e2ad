"""Which class the next user has and which worker hosts it, in Locust's order. Pure arithmetic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import heapify, heapreplace
from itertools import cycle
from math import ceil, log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
NATIVE_USER = "NativeUser"
"""The class that reports and dispatch know native users by."""


@dataclass(frozen=True, slots=True)
class UserClass:
    """A user class as the coordinator knows it. A weight counts only when fixed_count is 0."""

    name: str
    weight: float = 1.0
    fixed_count: int = 0
    max_spawn_rate: float | None = None
    """At most so many of them are started per second; > 0. None: only the rate of all users counts."""


def by_weight(weights: Mapping[str, float]) -> Iterator[str]:
    """Names without end, so that after each one the mix is as near to the weights as can be.

    Nearness is the Kullback-Leibler divergence: a class of weight w that was picked k times is worth
    w * log2((w + k) / (w + k + 1)) next, and the lowest goes first. Ties go to the smaller name.
    """
    heap = [(weight * log2(weight / (weight + 1)), weight + 1, weight, name) for name, weight in weights.items()]
    heapify(heap)
    while heap:
        _, filled, weight, name = heap[0]
        yield name
        heapreplace(heap, (weight * log2(filled / (filled + 1)), filled + 1, weight, name))


class ClassSpawnRate:
    """Lets users of a class in one by one, at a rate of its own. Times are ns on any clock."""

    def __init__(self, rate: float) -> None:
        """rate: users per second. Raises ValueError unless it is positive."""
        if not rate > 0:
            raise ValueError(f"a spawn rate must be greater than 0, not {rate:g}")
        self._step = 1e9 / rate
        self._free = 0.0
        """When the next one may come in."""
        self.admitted = 0

    def admit(self, wanted: int, at: int) -> int | None:
        """Let in whom the rate allows at this time; when to ask again, None once as many are in as are wanted."""
        self.admitted = min(self.admitted, wanted)
        while self.admitted < wanted:
            if at < self._free:
                return ceil(self._free)
            self.admitted += 1
            # From where it was, so that timers which are late add up to nothing; but a pause does not become a burst.
            self._free = (self._free if at - self._free < self._step else at) + self._step
        return None


class Dispatcher:
    """Grows and shrinks the number of users; knows how many of which class every worker hosts."""

    def __init__(self, classes: Sequence[UserClass], workers: Iterable[int]) -> None:
        """Raises ValueError without a class or a worker."""
        self._alive = sorted(workers)
        if not classes or not self._alive:
            raise ValueError("no user class to spawn, or no worker to spawn it on")
        self._turns = cycle(self._alive)
        self._classes = {each.name: each for each in classes}
        self._active: list[tuple[int, str]] = []
        self._present = Counter(dict.fromkeys(self._classes, 0))
        self._chosen: set[str] = set()
        self.choose(self._classes)

    def __len__(self) -> int:
        """Users wanted, on the workers that are left."""
        return len(self._active)

    def choose(self, names: Iterable[str]) -> None:
        """Later users come only of these classes; the others stay. Raises ValueError for a class that there is not."""
        chosen = set(names)
        if unknown := sorted(chosen - self._classes.keys()):
            raise ValueError(f"no such user class in this test: {', '.join(unknown)}")
        if chosen == self._chosen:
            return
        self._chosen = chosen
        classes = [self._classes[name] for name in sorted(chosen)]
        self._fixed = {each.name: each.fixed_count for each in classes if each.fixed_count}
        self._fixed_turns = by_weight(self._fixed)
        self._weighted_turns = by_weight({each.name: each.weight for each in classes if not each.fixed_count})

    def grow(self, count: int) -> None:
        """Fewer are added when only classes of a fixed count are left, and these are complete."""
        for _ in range(count if self._alive else 0):
            name = self._next_class()
            if name is None:
                return
            self._active.append((next(self._turns), name))
            self._present[name] += 1

    def shrink(self, count: int) -> None:
        """The last to come goes first."""
        self._keep(self._active[: max(0, len(self._active) - count)])

    def lose(self, worker: int) -> int:
        """A worker is gone, and its users with it; returns how many. Later ones are dealt to the workers left."""
        before = len(self._active)
        self._alive.remove(worker)
        self._turns = cycle(self._alive)
        self._keep([user for user in self._active if user[0] != worker])
        return before - len(self._active)

    def admit(self, worker: int) -> None:
        """It is there again, without users; `settle` gives it some."""
        self._alive = sorted([*self._alive, worker])
        self._turns = cycle(self._alive)

    def unsettled(self, users: int) -> int:
        """How many users `settle` has to start or to move until there are so many, shared out evenly."""
        hosted, fair = self._hosted(), users // len(self._alive)
        return max(0, users - len(self._active), sum(max(0, fair - number) for number in hosted.values()))

    def settle(self, count: int, users: int) -> None:
        """Start a user, or once there are so many move one, `count` times; always to the worker that has the fewest."""
        hosted, fair = self._hosted(), users // len(self._alive)
        takers = [(number, worker) for worker, number in hosted.items()]
        heapify(takers)
        while count and len(self._active) < users and (name := self._next_class()) is not None:
            number, taker = takers[0]
            heapreplace(takers, (number + 1, taker))
            hosted[taker] += 1
            self._active.append((taker, name))
            self._present[name] += 1
            count -= 1
        # The last to come goes first, as in `shrink`.
        for place in reversed(range(len(self._active))):
            giver, name = self._active[place]
            number, taker = takers[0]
            if not count or number >= fair:
                return
            if hosted[giver] > fair:
                heapreplace(takers, (number + 1, taker))
                hosted[giver] -= 1
                self._active[place] = taker, name
                count -= 1

    def _hosted(self) -> Counter[int]:
        """Users wanted by worker."""
        return Counter({**dict.fromkeys(self._alive, 0), **Counter(worker for worker, _ in self._active)})

    @property
    def paces(self) -> dict[str, ClassSpawnRate]:
        """For the classes that have a spawn rate of their own."""
        return {
            each.name: ClassSpawnRate(each.max_spawn_rate)
            for each in self._classes.values()
            if each.max_spawn_rate is not None
        }

    def present(self, name: str) -> int:
        """Users wanted of this class."""
        return self._present[name]

    def counts(self, admitted: Mapping[str, int] | None = None) -> dict[int, dict[str, int]]:
        """Users wanted per worker and class; every class is there, also with 0.

        admitted: of these classes so many, the first that came.
        """
        counts = Counter(self._active)
        for name, most in (admitted or {}).items():
            held_back = [user for user in self._active if user[1] == name][most:]
            counts.subtract(held_back)
        return {worker: {name: counts[worker, name] for name in self._present} for worker in self._alive}

    def _keep(self, active: list[tuple[int, str]]) -> None:
        self._active = active
        self._present = Counter({**dict.fromkeys(self._present, 0), **Counter(name for _, name in active)})
        self._fixed_turns = by_weight(self._fixed)

    def _next_class(self) -> str | None:
        if any(self._present[name] < wanted for name, wanted in self._fixed.items()):
            return next(name for name in self._fixed_turns if self._present[name] < self._fixed[name])
        return next(self._weighted_turns, None)
