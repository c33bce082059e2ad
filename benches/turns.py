"""The generators of a group measured in turns: one sends, and the others are stopped meanwhile. A round starts all of
them anew, because two starts of the same generator differ by more than its turns do.

Each has a server of its own. Both sides of a ratio are measured within two minutes, because the machine's speed changes
within minutes. Each generator runs alone, because they gain differently by being interrupted.
"""

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psutil

from .cost import Case, Cost, check_count, wait_for_connections, weigh
from .echo import Echo, running_echo
from .errors import BenchError
from .nginx import Nginx, running_nginx
from .process import Measured
from .rounds import mean
from .subjects import Load

ROUNDS = 6
QUICK_ROUNDS = 3
LEAST_ROUNDS = 2
"""One has no interval."""
TURNS = 2
"""Of each generator in a round: the second time in the opposite order, so that none is always before another."""
WINDOW_SECONDS = 1.0
SETTLE_SECONDS = 0.6
"""From the end of a pause to the window: until the caches are filled again, and work that fell due is done."""
READING_SECONDS = 0.1
"""At most, to read the counters at both ends of a window."""
TURN_SECONDS = SETTLE_SECONDS + WINDOW_SECONDS + READING_SECONDS
START_SECONDS = 2.0
"""Planned for each start, and the time in which its users connect in addition. Some starts may take longer."""
USERS_PER_SECOND = 4_000
SPARE_CONNECTIONS = 1_000
"""Of each nginx, besides those of users. With its default it needs two processes where few files may be open."""
FAILURES = (BenchError, psutil.Error, OSError, ValueError, LookupError)
"""What a generator that fails raises here: it has ended, or the file or the text with its own count is not as
expected."""

Failed = Callable[[str, Exception], None]
"""It is called with the name of what failed, and the reason."""


class Party:
    """A generator and its server. The generator is stopped, except in its turns and at its end."""

    def __init__(self, case: Case, deadline: float) -> None:
        """Starts it, with so much time that it ends by itself at the deadline (of the monotonic clock) or soon after.

        Raises one of FAILURES if it fails, or not all users connect."""
        self._case, self._deadline = case, deadline
        with ExitStack() as stack:
            self._server = stack.enter_context(running_server(case))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-bench-")))
            url = self._server.url_of(case.path, http2=bool(case.streams))
            seconds = math.ceil(deadline - time.monotonic())
            self._load = Load(url, case.path, case.users, seconds, folder, case.streams)
            self._generator = stack.enter_context(Measured(case.subject.command(self._load), self._load.environment))
            wait_for_connections(self._server, self._generator, case.users)
            self._generator.pause()
            self._stack = stack.pop_all()

    def turn(self) -> Cost:
        """What it costs in a window. Raises one of FAILURES if it has ended, or lost users."""
        self._generator.resume()
        time.sleep(SETTLE_SECONDS)
        cost = weigh(self._server, self._generator, self._case.users, WINDOW_SECONDS)
        self._generator.pause()
        return cost

    def end(self) -> None:
        """Let it end when its time is over.

        Raises one of FAILURES if it fails, or its own count is not the server's."""
        time.sleep(max(0.0, self._deadline - time.monotonic()))  # stopped: several at once would be slow to end
        self._generator.resume()
        output = self._generator.finish()
        reported = self._case.subject.reported(self._load, output)
        check_count(self._case.subject.name, reported, self._server.status().requests, self._case.under_way)

    def close(self) -> None:
        """Kill what still runs of the generator, and end the server."""
        self._stack.close()


def running_server(case: Case) -> AbstractContextManager[Nginx | Echo]:
    return running_echo() if case.is_echo else running_nginx(case.users + SPARE_CONNECTIONS)


class Round:
    """A start of all the cases of a group, and their turns."""

    def __init__(self, cases: Sequence[Case], failed: Failed) -> None:
        self._cases, self._failed = cases, failed
        starts = sum(START_SECONDS + case.users / USERS_PER_SECOND for case in cases)
        self._deadline = time.monotonic() + starts + TURNS * len(cases) * TURN_SECONDS
        """Until then all generators last, so the first one also lasts while the others start."""
        self._parties: dict[Case, Party] = {}
        """Those that have not failed."""
        self._costs: dict[Case, list[Cost]] = {case: [] for case in cases}
        self._stack = ExitStack()

    def measure(self) -> dict[Case, Cost]:
        """The mean of its turns, of each generator that did not fail.

        Raises BenchError if the starts took so long that the turns do not fit into the planned time."""
        with self._stack:
            self._start()
            if time.monotonic() + TURNS * len(self._parties) * TURN_SECONDS > self._deadline:
                raise BenchError("the machine was slower than planned")
            for number in range(TURNS):
                self._take_turns(backwards=bool(number % 2))
            for case, party in list(self._parties.items()):
                with self._noting_failure(case):
                    party.end()
        return {case: mean(self._costs[case]) for case in self._parties}

    def _start(self) -> None:
        for case in self._cases:
            with self._noting_failure(case):
                party = Party(case, self._deadline)
                self._stack.callback(party.close)
                self._parties[case] = party

    def _take_turns(self, backwards: bool) -> None:
        parties = list(self._parties.items())
        for case, party in reversed(parties) if backwards else parties:
            with self._noting_failure(case):
                self._costs[case].append(party.turn())

    @contextmanager
    def _noting_failure(self, case: Case) -> Iterator[None]:
        """A generator that fails is killed, and the others continue."""
        try:
            yield
        except FAILURES as error:
            if party := self._parties.pop(case, None):
                party.close()
            self._failed(f"{case.subject.name}, {case.path}, {case.users} users", error)


def measure_group(cases: Sequence[Case], rounds: int, failed: Failed) -> Iterator[dict[Case, list[Cost]]]:
    """After each round: the costs by round, of all the generators that have not failed so far, and as many for each.

    Raises BenchError if a round takes longer than planned."""
    costs: dict[Case, list[Cost]] = {case: [] for case in cases}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}: {len(costs)} generators", file=sys.stderr)
        measured = Round(list(costs), failed).measure()
        costs = {case: [*costs[case], cost] for case, cost in measured.items()}
        yield costs
