"""Measure the cost of Plimsoll and its peers, and compare it with the bars: `python -m benches [--quick]`

Prints the tables and writes benches/results/<time>.json. A missed bar does not change the exit status, because this is
a measurement and not a test. 1 means that an installed tool could not be measured.
"""

import argparse
import os
import sys
from dataclasses import asdict
from datetime import datetime

from . import machine
from .bars import bars
from .cases import MILLION
from .errors import BenchError
from .nginx import running_nginx
from .process import SERVER_CPU
from .readme import splice
from .results import FOLDER, Results
from .runner import RATE_ROUNDS, run
from .scale import measure_scale
from .table import render
from .turns import LEAST_ROUNDS, QUICK_ROUNDS, ROUNDS

WINDOW_SECONDS = 5.0
QUICK_WINDOW_SECONDS = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three rounds, 50 users or 50,000 arrivals/s")
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"starts of all the generators of a group; {ROUNDS} by default, {QUICK_ROUNDS} with --quick. "
        f"Runs at a rate are repeated {RATE_ROUNDS} times at most",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="WORDS",
        help="only generators whose name contains this, or one of these (WORDS,WORDS)",
    )
    parser.add_argument("--readme", action="store_true", help="put the tables into benches/README.md as well")
    parser.add_argument("--million", action="store_true", help="only a million native users (ten minutes)")
    arguments = parser.parse_args()
    if (os.cpu_count() or 1) < 2:
        sys.exit("benches: server and generator need a CPU each, and this machine has one")
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
    if rounds < LEAST_ROUNDS:
        sys.exit(f"benches: --rounds: an interval needs at least {LEAST_ROUNDS}")
    os.sched_setaffinity(0, {SERVER_CPU})  # on the server's CPU, not on the generator's
    results = Results(
        machine=machine.facts(),
        started=datetime.now().isoformat(timespec="seconds"),
        command=" ".join(["python -m benches", *sys.argv[1:]]),
        window=QUICK_WINDOW_SECONDS if arguments.quick else WINDOW_SECONDS,
    )
    try:
        if arguments.million:
            results.add_scale(MILLION, measure_scale(MILLION, results.window))
            succeeded = True
        else:
            with running_nginx() as nginx:
                succeeded = run(nginx, results, arguments.quick, arguments.only, rounds)
    except BenchError as error:
        sys.exit(f"benches: {error}")
    held = list(bars(results))
    text = render(results, held)
    print(text)
    path = FOLDER / f"{results.started.replace(':', '')}.json"
    results.write(path, [asdict(bar) | {"holds": bar.holds} for bar in held])
    print(f"written to {path}")
    if arguments.readme:
        splice(text)
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main())
