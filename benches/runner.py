"""One run of the benches: the order of the measurements, and the handling of failures."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from . import instructions
from .cases import IDLE, groups, open_cases, scale_cases
from .cost import Case, Cost
from .errors import BenchError
from .memory import IdleCase, measure_idle
from .nginx import Nginx
from .open_model import OpenCase, measure_open
from .results import Results
from .scale import ScaleCase, measure_scale
from .turns import Failed, measure_group

RATE_ROUNDS = 3
"""Of the runs at a rate, at most."""
Step = tuple[str, Callable[[], None]]


def run(nginx: Nginx, results: Results, quick: bool, only: str, rounds: int) -> bool:
    """Measure the installed generators that `only` chooses. Returns whether all succeeded.

    A failure becomes a line of the results, and the other measurements continue."""
    succeeded = True

    def failed(what: str, why: Exception) -> None:
        nonlocal succeeded
        succeeded = False
        print(f"  {what} failed: {why}", file=sys.stderr)
        first, _, _ = str(why).partition("\n")
        results.missing.append(f"{what}: {first or type(why).__name__}")

    results.versions["nginx"] = nginx.version()
    for label, step in steps(nginx, results, quick, only, rounds, failed):
        print(label, file=sys.stderr)
        try:
            step()
        except BenchError as error:
            failed(label, error)
    return succeeded


def steps(nginx: Nginx, results: Results, quick: bool, only: str, rounds: int, failed: Failed) -> Iterator[Step]:
    """The measurements, groups of generators in turns first."""

    def here(case: Case | OpenCase | IdleCase | ScaleCase) -> bool:
        return is_chosen(case.subject.name, only) and present(results, case)

    for title, cases in groups(quick).items():
        if closed := [case for case in cases if here(case)]:
            yield title, partial(add_group, results, closed, rounds, failed)
    arriving = [case for case in open_cases(quick) if here(case)]
    for turn in range(1 if quick else min(rounds, RATE_ROUNDS)):
        for arrivals in arriving:
            label = f"round {turn + 1}: {arrivals.subject.name}, {arrivals.subject.rate}/s"
            yield label, partial(add_open, nginx, results, arrivals)
    for idle in filter(here, IDLE):
        yield idle.subject.name, partial(add_idle, nginx, results, idle)
    for many in filter(here, scale_cases(quick)):
        yield f"{many.subject.name}, {many.users} users", partial(add_scale, results, many)
    if is_chosen("instructions", only):
        absence = instructions.missing()
        if absence is None:
            yield "instructions", partial(add_instructions, nginx, results)
        else:
            results.missing.append(f"instructions: {absence}")


def is_chosen(name: str, only: str) -> bool:
    """only: words with commas between them; a name with one of them is chosen."""
    return any(words in name for words in only.split(","))


def present(results: Results, case: Case | OpenCase | IdleCase | ScaleCase) -> bool:
    """Whether the case's generator is installed. Stores its version, or the reason."""
    name = case.subject.name
    why = case.subject.missing()
    if why is None:
        results.versions[name] = case.subject.version()
    elif f"{name}: {why}" not in results.missing:
        results.missing.append(f"{name}: {why}")
    return why is None


def add_group(results: Results, cases: Sequence[Case], rounds: int, failed: Failed) -> None:
    """Rounds before one that fails count."""
    costs: dict[Case, list[Cost]] = {}
    try:
        for measured in measure_group(cases, rounds, failed):
            costs = measured
    finally:
        results.add_group(costs)


def add_idle(nginx: Nginx, results: Results, case: IdleCase) -> None:
    results.idle[case.subject.name] = measure_idle(nginx, case)


def add_open(nginx: Nginx, results: Results, case: OpenCase) -> None:
    results.add_open(case, measure_open(nginx, case, results.window))


def add_scale(results: Results, case: ScaleCase) -> None:
    results.add_scale(case, measure_scale(case, results.window))


def add_instructions(nginx: Nginx, results: Results) -> None:
    results.instructions = instructions.measure_instructions(nginx)
