"""Does a run keep its guarantees under disturbances?

Prints a line for each trial. If a guarantee was broken, the output of the run follows. The exit status is 1 if a
guarantee was broken, 2 if the lab cannot run, else 0.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random, SystemRandom
from textwrap import indent

from labs.truth.errors import TruthError

from .broken import broken
from .disturbances import DISTURBANCES
from .protocols import PROTOCOLS, target_of
from .scene import Scene
from .system_calls import LIBRARY
from .trial import Trial, draw

WORDS = 4000
"""Maximum characters of a run's output to show."""
BROKEN, CANNOT_RUN, INTERRUPTED = 1, 2, 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.robustness", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0, help="begin no trial after so long")
    parser.add_argument("--seed", type=int, help="of the first trial; the next one has the next number")
    parser.add_argument("--trials", type=int, help="at most so many")
    parser.add_argument("--only", metavar="WORDS", help="only disturbances whose name has one of these")
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=PROTOCOLS, help="only these")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time")
    arguments = parser.parse_args()
    words = [""] if arguments.only is None else arguments.only.split()
    names = tuple(name for name in DISTURBANCES if any(word in name for word in words))
    if not names:
        parser.error(f"no disturbance is called so; there are {', '.join(DISTURBANCES)}")
    if not LIBRARY.exists():
        print(f"robustness lab: {LIBRARY} is not built (cargo build --release -p plimsoll-faults)", file=sys.stderr)
        return CANNOT_RUN
    first = SystemRandom().randrange(1_000_000) if arguments.seed is None else arguments.seed
    seeds = range(first, first + arguments.trials) if arguments.trials else count(first)
    trials = (draw(seed, names, tuple(arguments.protocols)) for seed in seeds)
    end = time.monotonic() + arguments.minutes * 60
    tried: Counter[str] = Counter()
    failed: list[Trial] = []
    try:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            under_way: dict[Future[Judgement], Trial] = {}
            while True:
                while len(under_way) < arguments.jobs and time.monotonic() < end and (trial := next(trials, None)):
                    under_way[pool.submit(judge, trial)] = trial
                if not under_way:
                    break
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    trial = under_way.pop(done)
                    tried[trial.disturbance.name] += 1
                    judgement = done.result()
                    failed += [trial] if judgement.broken else []
                    print(f"{trial}: {judgement}", flush=True)
    except TruthError as error:
        print(f"robustness lab: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        return INTERRUPTED
    print(f"{sum(tried.values())} trials of {len(tried)} kinds, {len(failed)} with a broken promise")
    for trial in failed:
        only = f" --only '{arguments.only}'" if arguments.only else ""
        only += f" --protocols {' '.join(arguments.protocols)}" if arguments.protocols != PROTOCOLS else ""
        print(f"  python -m labs.robustness --trials 1 --seed {trial.seed}{only}")
    return BROKEN if failed else 0


@dataclass(frozen=True)
class Judgement:
    broken: list[str]
    """A sentence for each broken guarantee."""
    applied: int
    """Number of failed system calls."""
    words: str
    """The output of the run."""

    def __str__(self) -> str:
        if not self.broken:
            return f"kept; {self.applied} calls failed" if self.applied else "kept"
        return f"BROKEN: {'; '.join(self.broken)}\n{indent(self.words[-WORDS:], '    ')}"


def judge(trial: Trial) -> Judgement:
    """Run the trial. Raises TruthError."""
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-robustness-") as name,
        target_of(trial.protocol, folder := Path(name)) as target,
    ):
        scene = Scene(trial, target, folder)
        try:
            first = scene.wait_for_load()
            scene.wait(first + trial.moment * trial.seconds)
            moment = time.monotonic()
            trial.disturbance.act(scene, Random(trial.seed))
            seen = scene.observe(moment)
            return Judgement(list(broken(trial, seen)), seen.applied, seen.words)
        except TimeoutError as error:
            return Judgement([str(error)], 0, "")
        finally:
            scene.close()


if __name__ == "__main__":
    sys.exit(main())
