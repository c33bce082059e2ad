"""The generators of a group measured in turns: one sends, and the others are stopped meanwhile.

Each has a server of its own. Both sides of a ratio are measured within a minute, because the machine's speed changes
within minutes. Each generator runs alone, because they gain differently by being interrupted (decision 0087).
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
from .subjects import Load

ROUNDS = 10
QUICK_ROUNDS = 3
LEAST_ROUNDS = 2
"""One has no interval."""
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


class Turns:
    """A group of cases."""

    def __init__(self, title: str, cases: Sequence[Case], rounds: int, failed: Failed) -> None:
        self._title, self._cases, self._rounds, self._failed = title, cases, rounds, failed
        self._round_seconds = len(cases) * TURN_SECONDS
        starts = sum(START_SECONDS + case.users / USERS_PER_SECOND for case in cases)
        self._deadline = time.monotonic() + starts + rounds * self._round_seconds
        """Until then all generators last, so the first one also lasts while the others start."""
        self._parties: dict[Case, Party] = {}
        """Those that have not failed."""
        self._costs: dict[Case, list[Cost]] = {case: [] for case in cases}
        self._stack = ExitStack()

    def measure(self) -> dict[Case, list[Cost]]:
        """The costs by round, of all the generators that did not fail, and as many for each.

        Raises BenchError if the start took so long that less than two rounds fit into the planned time."""
        with self._stack:
            self._start()
            for number in range(self._rounds):
                if time.monotonic() + self._round_seconds > self._deadline:
                    self._fall_short(number)
                    break
                print(f"  round {number + 1} of {self._rounds}: {len(self._parties)} generators", file=sys.stderr)
                self._go_round(backwards=bool(number % 2))
            for case, party in list(self._parties.items()):
                with self._noting_failure(case):
                    party.end()
        return {case: self._costs[case] for case in self._parties}

    def _start(self) -> None:
        for case in self._cases:
            with self._noting_failure(case):
                party = Party(case, self._deadline)
                self._stack.callback(party.close)
                self._parties[case] = party

    def _go_round(self, backwards: bool) -> None:
        """In the opposite order every other time, so that none is always measured before another."""
        parties = list(self._parties.items())
        for case, party in reversed(parties) if backwards else parties:
            with self._noting_failure(case):
                self._costs[case].append(party.turn())

    def _fall_short(self, rounds: int) -> None:
        error = BenchError(f"only {rounds} of {self._rounds} rounds: the machine was slower than planned")
        if rounds < LEAST_ROUNDS:
            raise error
        self._failed(self._title, error)

    @contextmanager
    def _noting_failure(self, case: Case) -> Iterator[None]:
        """A generator that fails is killed, and the others continue."""
        try:
            yield
        except FAILURES as error:
            if party := self._parties.pop(case, None):
                party.close()
            self._failed(f"{case.subject.name}, {case.path}, {case.users} users", error)
