"""Does a run keep its guarantees under disturbances, and from whatever a target, a store or a joiner sends?

Prints a line for each trial. If a guarantee was broken, the output of the trial follows. The exit status is 1 if a
guarantee was broken, 2 if the lab cannot run, else 0.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import count
from pathlib import Path
from random import Random, SystemRandom
from typing import NamedTuple

from labs.truth.errors import TruthError

from .disturbances import DISTURBANCES
from .disturbed_run import judge
from .groups import GROUPS, RunTrial
from .judgement import Judgement
from .protocols import PROTOCOLS
from .system_calls import LIBRARY
from .trial import draw

DISTURBED = "disturbances"
"""The group that disturbs a run. It has half of the trials."""
BROKEN, CANNOT_RUN, INTERRUPTED = 1, 2, 130


class SeededTrial(NamedTuple):
    """A trial, as it can be run again."""

    group: str
    seed: int
    run: RunTrial

    def judge(self) -> Judgement:
        """Raises TruthError."""
        with tempfile.TemporaryDirectory(prefix="plimsoll-robustness-", ignore_cleanup_errors=True) as name:
            return self.run(Path(name), Random(self.seed))


def main() -> int:
    arguments = _arguments()
    if not LIBRARY.exists():
        print(f"robustness lab: {LIBRARY} is not built (cargo build --release -p plimsoll-faults)", file=sys.stderr)
        return CANNOT_RUN
    tried: Counter[str] = Counter()
    failed: list[SeededTrial] = []
    try:
        for trial, judgement in _judged(arguments):
            tried[trial.group] += 1
            failed += [trial] if judgement.broken else []
            print(f"{trial.seed:>6}  {trial.group}: {judgement}", flush=True)
    except TruthError as error:
        print(f"robustness lab: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        return INTERRUPTED
    print(", ".join(f"{number} {group}" for group, number in sorted(tried.items())), end=": ")
    print(f"{len(failed)} with a broken promise")
    for each in failed:
        print(f"  python -m labs.robustness --trials 1 --seed {each.seed} --groups {each.group}{_options(arguments)}")
    return BROKEN if failed else 0


def _arguments() -> argparse.Namespace:
    groups = (DISTURBED, *GROUPS)
    parser = argparse.ArgumentParser(prog="python -m labs.robustness", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0, help="begin no trial after so long")
    parser.add_argument("--seed", type=int, help="of the first trial; the next one has the next number")
    parser.add_argument("--trials", type=int, help="at most so many")
    parser.add_argument("--groups", nargs="+", choices=groups, default=groups, help="only these")
    parser.add_argument("--only", metavar="WORDS", help="only disturbances whose name has one of these")
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=PROTOCOLS, help="disturb only these")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time")
    arguments = parser.parse_args()
    words = [""] if arguments.only is None else arguments.only.split()
    arguments.names = tuple(name for name in DISTURBANCES if any(word in name for word in words))
    if not arguments.names:
        parser.error(f"no disturbance is called so; there are {', '.join(DISTURBANCES)}")
    return arguments


def _options(arguments: argparse.Namespace) -> str:
    """What else a disturbance was drawn from."""
    only = f" --only '{arguments.only}'" if arguments.only else ""
    return only + (f" --protocols {' '.join(arguments.protocols)}" if arguments.protocols != PROTOCOLS else "")


def _trials(arguments: argparse.Namespace) -> Iterator[SeededTrial]:
    others = [each for each in arguments.groups if each != DISTURBED]
    groups = ([DISTURBED] * max(1, len(others)) if DISTURBED in arguments.groups else []) + others
    first = SystemRandom().randrange(1_000_000) if arguments.seed is None else arguments.seed
    for seed in range(first, first + arguments.trials) if arguments.trials else count(first):
        group = groups[seed % len(groups)]
        disturbed = partial(_disturb, arguments.names, tuple(arguments.protocols), seed)
        yield SeededTrial(group, seed, disturbed if group == DISTURBED else GROUPS[group])


def _disturb(names: tuple[str, ...], protocols: tuple[str, ...], seed: int, folder: Path, chance: Random) -> Judgement:
    return judge(draw(seed, names, protocols), folder)


def _judged(arguments: argparse.Namespace) -> Iterator[tuple[SeededTrial, Judgement]]:
    """Trials as they end, some at a time."""
    trials, end = _trials(arguments), time.monotonic() + arguments.minutes * 60
    under_way: dict[Future[Judgement], SeededTrial] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        while True:
            while len(under_way) < arguments.jobs and time.monotonic() < end and (trial := next(trials, None)):
                under_way[pool.submit(trial.judge)] = trial
            if not under_way:
                return
            for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                yield under_way.pop(done), done.result()


if __name__ == "__main__":
    sys.exit(main())
