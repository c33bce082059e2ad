"""Damaged files for every reader: `python -m fuzz.files [results|plans|experiments] [--seconds N]`

Each file must be read, or rejected with a clear error. Anything else is a finding. It is printed once for each place in
the sources, its file is written to fuzz/artifacts/, and the exit status is 1.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from types import FrameType

from plimsoll.errors import PlimsollError
from plimsoll.experiment.file.file import read_experiment
from plimsoll.importers import read
from plimsoll.load.plan_file import read_plan
from plimsoll.report.outputs import text
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.stats.analysis import analyse

from .mutation import damaged

ROOT = Path(__file__).parents[1]
ARTIFACTS = ROOT / "fuzz" / "artifacts"
LONGEST_S = 5
"""Maximum seconds of processor time for a file."""


class TooSlowError(BaseException):
    """Not an Exception, so that code that catches those does not catch it."""


def read_results(path: Path) -> None:
    """Read the results and report on them."""
    study = read(path, users=10.0, duration=60.0)
    text(StudySource(analyse(study)), "text", OutputRequest())


@dataclass(frozen=True)
class Kind:
    seeds: str
    """A pattern of paths below the root."""
    read: Callable[[Path], object]


KINDS = {
    "results": Kind("fuzz/seeds/results/*", read_results),
    "plans": Kind("fuzz/seeds/plans/*.toml", lambda path: read_plan(str(path))),
    "experiments": Kind("labs/*/*.toml", lambda path: read_experiment(str(path))),
}


@dataclass(frozen=True)
class Finding:
    place: str
    """Our innermost line, and the kind of exception."""
    words: str
    """Its traceback."""


def fuzz(kind: Kind, chance: Random, seconds: float, folder: Path) -> Iterator[tuple[bytes, Finding]]:
    """Yields each finding once, with its file. Raises StopIteration with the number of files."""
    paths = sorted(ROOT.glob(kind.seeds))
    seeds = [path.read_bytes() for path in paths]
    known: set[str] = set()
    end, tried = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        source = chance.randrange(len(paths))
        content = damaged(seeds[source], seeds, chance)
        tried += 1
        file = folder / paths[source].name
        file.write_bytes(content)
        finding = judge(kind, file)
        if finding is not None and finding.place not in known:
            known.add(finding.place)
            yield content, finding
    print(f"{tried:,} files, {len(known)} findings")


def judge(kind: Kind, file: Path) -> Finding | None:
    """Read one file. Returns None if it is read or rejected correctly."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        kind.read(file)
    except PlimsollError as error:
        return None if str(error).strip() else Finding("an error without words", "")
    except (Exception, TooSlowError) as error:
        return Finding(_place(error), traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlowError(f"it took more than {LONGEST_S} s")


def _place(error: BaseException) -> str:
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "/plimsoll/" in each.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "elsewhere"
    return f"{type(error).__name__} in {where}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.files", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all of them by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each kind")
    parser.add_argument("--seed", type=int, help="of the random generator")
    arguments = parser.parse_args()
    if unknown := set(arguments.kinds) - KINDS.keys():
        parser.error(f"no kind is called {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    seed = SystemRandom().randrange(1_000_000) if arguments.seed is None else arguments.seed
    found = False
    with tempfile.TemporaryDirectory(prefix="plimsoll-fuzz-") as folder:
        for name in arguments.kinds or KINDS:
            print(f"{name}, seed {seed}: ", end="", flush=True)
            for content, finding in fuzz(KINDS[name], Random(seed), arguments.seconds, Path(folder)):
                found = True
                ARTIFACTS.mkdir(exist_ok=True)
                file = ARTIFACTS / f"{name}-{finding.place.replace(' ', '-').replace(':', '-')}"
                file.write_bytes(content)
                print(f"\n{finding.place}: {os.path.relpath(file)}\n{finding.words}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
