"""One run of the benches: the order of the measurements, and the handling of failures."""

import sys
from collections.abc import Callable, Iterator
from functools import partial

from . import instructions
from .cases import IDLE, cases, open_cases, scale_cases
from .cost import Case, measure
from .echo import running_echo
from .errors import BenchError
from .memory import IdleCase, measure_idle
from .nginx import Nginx
from .open_model import OpenCase, measure_open
from .results import Results
from .scale import ScaleCase, measure_scale

ROUNDS = 3
Step = tuple[str, Callable[[], None]]


def run(nginx: Nginx, results: Results, quick: bool, only: str, rounds: int = ROUNDS) -> bool:
    """Measure the installed generators that `only` chooses. Returns whether all succeeded.

    A failure becomes a line of the results, and the other measurements continue."""
    succeeded = True
    results.versions["nginx"] = nginx.version()
    for label, step in steps(nginx, results, quick, only, rounds):
        print(label, file=sys.stderr)
        try:
            step()
        except BenchError as error:
            succeeded = False
            print(f"  failed: {error}", file=sys.stderr)
            results.missing.append(f"{label}: {str(error).splitlines()[0]}")
    return succeeded


def steps(nginx: Nginx, results: Results, quick: bool, only: str, rounds: int = ROUNDS) -> Iterator[Step]:
    """The measurements. Each round measures all generators in turn, so that a slow period of the machine affects
    all."""

    def here(case: Case | OpenCase | IdleCase | ScaleCase) -> bool:
        return is_chosen(case.subject.name, only) and present(results, case)

    closed = [case for case in cases(quick) if here(case)]
    arriving = [case for case in open_cases(quick) if here(case)]
    for turn in range(1 if quick else rounds):
        for case in closed:
            label = f"round {turn + 1}: {case.subject.name}, {case.path}, {case.users} users"
            yield label, partial(add_cost, nginx, results, case)
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


def add_cost(nginx: Nginx, results: Results, case: Case) -> None:
    if case.is_echo:
        with running_echo() as echo:
            results.add(case, measure(echo, case, results.window))
    else:
        results.add(case, measure(nginx, case, results.window))


def add_idle(nginx: Nginx, results: Results, case: IdleCase) -> None:
    results.idle[case.subject.name] = measure_idle(nginx, case)


def add_open(nginx: Nginx, results: Results, case: OpenCase) -> None:
    results.add_open(case, measure_open(nginx, case, results.window))


def add_scale(results: Results, case: ScaleCase) -> None:
    results.add_scale(case, measure_scale(case, results.window))


def add_instructions(nginx: Nginx, results: Results) -> None:
    results.instructions = instructions.measure_instructions(nginx)
