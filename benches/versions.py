"""Which of two versions of Plimsoll costs less CPU per request? `python -m benches.versions OLD NEW`

OLD and NEW are checkouts in which `make setup` was run, or environments into which a wheel was installed. Both versions
send at the same time, on the same CPU, each to an nginx of its own. So the machine is equally fast for both, whatever
else it does. The CPU times themselves are not those of a run alone, because both share the caches.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .cases import MORE_USERS, NATIVE, PLIMSOLL_LOGGED, PLIMSOLL_REALISTIC, PLIMSOLL_TRIVIAL, PLIMSOLL_URL, USERS
from .cost import Case, Cost, Weighing, wait_for_connections
from .errors import BenchError
from .nginx import Nginx, running_nginx
from .process import SERVER_CPU, Measured
from .rounds import Ratio
from .subjects import Load, Version
from .table import table

CASES = (
    *(Case(subject, "/small", USERS) for subject in (NATIVE, PLIMSOLL_URL, PLIMSOLL_LOGGED, *PLIMSOLL_TRIVIAL)),
    *(Case(subject, "/orders", USERS) for subject in PLIMSOLL_REALISTIC),
    *(Case(subject, "/small", users) for users in MORE_USERS for subject in (NATIVE, *PLIMSOLL_TRIVIAL)),
)
PAIRS = 6
WINDOW_SECONDS = 4.0
MARGIN_SECONDS = 3
USERS_STARTED_PER_SECOND = 2_000
"""Maximum time until all users have started."""
START_SECONDS = 2.0
"""Until the coordinators, which start on a busy CPU, have imported what they need."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.versions", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--only", default="", metavar="WORDS", help="only generators whose name contains this")
    parser.add_argument("--users", type=int, metavar="N", help="only with so many users: 50, 1000 or 10000")
    parser.add_argument(
        "--pairs", type=int, default=PAIRS, metavar="N", help=f"of runs, an even number; {PAIRS} by default"
    )
    parser.add_argument("--window", type=float, default=WINDOW_SECONDS, help=f"seconds; {WINDOW_SECONDS:g} by default")
    given = parser.parse_args()
    os.sched_setaffinity(0, {SERVER_CPU})
    cases = [each for each in CASES if given.only in each.subject.name and given.users in (None, each.users)]
    if not cases:
        sys.exit(f"benches.versions: no generator has {given.only!r} in its name and {given.users} users")
    if given.pairs < 2 or given.pairs % 2:
        sys.exit("benches.versions: --pairs: each version starts first in half of them, so an even number is needed")
    try:
        versions = Version.at(given.old), Version.at(given.new)
        with running_nginx() as one, running_nginx() as other:
            for case in cases:
                pairs = [measure((one, other), case, versions, given.window, turn) for turn in range(given.pairs)]
                print(render(case, pairs), flush=True)
    except BenchError as error:
        sys.exit(f"benches.versions: {error}")
    return 0


def measure(
    servers: tuple[Nginx, Nginx], case: Case, versions: tuple[Version, Version], window: float, turn: int
) -> tuple[Cost, Cost]:
    """Both versions at once. turn: the one that starts first, and the server of each, alternate with it.

    Raises BenchError if one of them fails, or does not have all its users at the end of the window."""
    first = turn % 2
    start = case.users / USERS_STARTED_PER_SECOND
    # Both start on one CPU, so it takes twice as long.
    seconds = round(window + START_SECONDS + 2 * (MARGIN_SECONDS + start))
    parties: list[tuple[Nginx, Measured]] = []
    with ExitStack() as stack:
        for version, server in ((versions[first], servers[0]), (versions[1 - first], servers[1])):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-bench-")))
            load = Load(server.url, case.path, case.users, seconds, folder, version=version)
            generator = stack.enter_context(Measured(case.subject.command(load), load.environment))
            parties.append((server, generator))
        for server, generator in parties:
            wait_for_connections(server, generator, case.users)
        time.sleep(START_SECONDS)
        windows = [Weighing(server, generator, case.users) for server, generator in parties]
        time.sleep(window)
        costs = [each.end() for each in windows]
    return costs[first], costs[1 - first]


def render(case: Case, pairs: Sequence[tuple[Cost, Cost]]) -> str:
    """What both cost in this case, and new ÷ old."""
    head = (f"{case.subject.name}, {case.users:,} users", "old, µs", "new, µs", "new ÷ old")
    return table(head, [_row("CPU per request", "cpu_us", pairs), *_workers(pairs)]) + "\n"


def _workers(pairs: Sequence[tuple[Cost, Cost]]) -> list[Sequence[str]]:
    """A row, unless there is no coordinator."""
    return [_row("of it workers", "workers_us", pairs)] if pairs[0][0].workers_us else []


def _row(title: str, of: str, pairs: Sequence[tuple[Cost, Cost]]) -> Sequence[str]:
    olds, news = ([getattr(each, of) for each in column] for column in zip(*pairs, strict=True))
    ratio = Ratio.of(zip(news, olds, strict=True))
    return (title, f"{statistics.median(olds):.2f}", f"{statistics.median(news):.2f}", str(ratio))


if __name__ == "__main__":
    sys.exit(main())
