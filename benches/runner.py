"""One run of the benches: which measurements, in which order, and what becomes of one that fails."""

import sys
from collections.abc import Callable, Iterator
from functools import partial

from . import instructions
from .cases import IDLE, cases
from .cost import Case, measure
from .errors import BenchError
from .memory import IdleCase, measure_idle
from .nginx import Nginx
from .results import Results

ROUNDS = 3
Step = tuple[str, Callable[[], None]]


def run(nginx: Nginx, results: Results, quick: bool, only: str) -> bool:
    """Measure what is installed and whose name contains `only`; whether all of it succeeded.

    A failure becomes a line of the results and the rest goes on."""
    succeeded = True
    results.versions["nginx"] = nginx.version()
    for label, step in steps(nginx, results, quick, only):
        print(label, file=sys.stderr)
        try:
            step()
        except BenchError as error:
            succeeded = False
            print(f"  failed: {error}", file=sys.stderr)
            results.missing.append(f"{label}: {str(error).splitlines()[0]}")
    return succeeded


def steps(nginx: Nginx, results: Results, quick: bool, only: str) -> Iterator[Step]:
    """The measurements. The rounds go over all generators in turn, so that a slow minute of the machine hits all."""
    chosen = [case for case in cases(quick) if only in case.subject.name and present(results, case)]
    for turn in range(1 if quick else ROUNDS):
        for case in chosen:
            label = f"round {turn + 1}: {case.subject.name}, {case.path}, {case.users} users"
            yield label, partial(add_cost, nginx, results, case)
    for idle in IDLE:
        if only in idle.subject.name and present(results, idle):
            yield idle.subject.name, partial(add_idle, nginx, results, idle)
    if only in "instructions":
        absence = instructions.missing()
        if absence is None:
            yield "instructions", partial(add_instructions, nginx, results)
        else:
            results.missing.append(f"instructions: {absence}")


def present(results: Results, case: Case | IdleCase) -> bool:
    """Whether the case's generator is installed; notes its version, or why it is not."""
    name = case.subject.name
    why = case.subject.missing()
    if why is None:
        results.versions[name] = case.subject.version()
    elif f"{name}: {why}" not in results.missing:
        results.missing.append(f"{name}: {why}")
    return why is None


def add_cost(nginx: Nginx, results: Results, case: Case) -> None:
    results.add(case, measure(nginx, case, results.window))


def add_idle(nginx: Nginx, results: Results, case: IdleCase) -> None:
    results.idle[case.subject.name] = measure_idle(nginx, case)


def add_instructions(nginx: Nginx, results: Results) -> None:
    results.instructions = instructions.measure_instructions(nginx)
