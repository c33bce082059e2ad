"""Findings about the target itself: LEAK, CRASH, CPU, WAITS, WORK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.durations import ms
from plimsoll.say.findings.said import Said, said
from plimsoll.say.names import at, lead, listed
from plimsoll.say.numbers import change, counted, number, observed, percent
from plimsoll.stats.findings.target.leaks import FILES, GROWS, LEAST_FILES, MemoryGrowth, TargetCrash
from plimsoll.stats.findings.target.load import GROWS as QUEUE_GROWS
from plimsoll.stats.findings.target.load import LEAST_WAITING, FullCpu, FullMachine, Queue
from plimsoll.stats.findings.target.work import DIFFERS, LEAST_CALLS, LEAST_SHARE, ChangedWork
from plimsoll.stats.findings.target.work import GROWS as WORK_GROWS
from plimsoll.stats.machine import FULL

if TYPE_CHECKING:
    from plimsoll.stats.study import Level

MEMORY = (
    "the slope of resident memory, or of open files, after the warm-up (Theil–Sen) is certainly (95 %) above 0 in the "
    f"whole run and in its second half, and amounts to more than {GROWS * 100:.0f} % of the median: a cache fills and "
    f"stops, a leak does not; open files grow by at least {LEAST_FILES}"
)
CRASH = "a target that ends by itself while it is loaded is a result, not a run to be left out"
CPU = (
    f"in the median second after the warm-up at least {FULL * 100:.0f} % of the cores that the processes may use are "
    "busy with them; of as many cores as they are, when they never use more: such processes run one thread at a time"
)
WAITS = (
    "a figure that counts what waits, by its name (waiting, waiters, pending, queue, backlog), is at least "
    f"{LEAST_WAITING:g} on average after the warm-up, and {QUEUE_GROWS:g} times as much as at the lowest level, if "
    "there are several"
)
WORK = (
    f"the mean time of a statement or call, of at least {LEAST_CALLS} calls each, is at the highest level "
    f"{WORK_GROWS:g} times that at the lowest, or between two variants {DIFFERS:g} times; and it has at least "
    f"{LEAST_SHARE * 100:.0f} % of the time of all of its kind"
)
KINDS = {"statement": "statements", "call": "calls", "part": "named parts"}
MOST_NAME = 100
"""Characters of a statement that a finding shows."""
LEAST_REST = 0.05
"""Cores of all else that are worth a mention."""


@said.register
def memory(finding: MemoryGrowth) -> Said:
    first, last = (observed(value, finding.unit) for value in (finding.first, finding.last))
    source, name = finding.series
    grows = f"{source} {name} grows" if name != FILES else f"the open files of {source} grow"
    what = f"{lead(finding.subject)}{grows} from {first} to {last}"
    if finding.levels_off:
        return Said(
            f"{what} and levels off in its second half.",
            MEMORY,
            "If it should not grow at all, look at what is kept while it warms up.",
        )
    return Said(
        f"{what} during the run ({_pace(finding)}) and {'do' if name == FILES else 'does'} not level off: a leak, "
        "unless what it keeps has a bound that was not reached.",
        MEMORY,
        "A longer run tells the two apart; a heap profile tells what is kept.",
    )


def _pace(finding: MemoryGrowth) -> str:
    """By how much: for each failed request where these explain it, else in an hour if it grows at one rate."""
    if finding.per_failed is not None:
        return f"{observed(finding.per_failed, finding.unit)} for each failed request"
    if finding.is_steady:
        return f"{observed(finding.slope_per_h, finding.unit)}/h"
    return f"{'faster' if finding.second_half_per_h[0] > finding.slope_per_h else 'slower'} in its second half"


@said.register
def crash(finding: TargetCrash) -> Said:
    used = f", at {observed(*finding.memory)} of memory" if finding.memory is not None else ""
    return Said(
        f"{lead(finding.subject)}the target ended during the run{used}: {finding.how.rstrip('.')}.",
        CRASH,
        "Look at its last log lines, and at its memory up to there.",
    )


@said.register
def full_machine(finding: FullMachine) -> Said:
    parts = [f"{name} {_cores(value)}" for name, value in finding.shares]
    if finding.rest > LEAST_REST:
        parts.append(f"the load generator and all else {_cores(finding.rest)}")
    statement = (
        f"{lead(finding.subject)}this machine is full{_from(finding.level)}: {_busy(finding)} are busy"
        f"{_before(finding)} ({listed(parts)})"
    )
    if finding.is_starved:
        return Said(
            f"{statement}. The target uses a small part of it, so it waits for the load generator or other programs: "
            "times and rates there are not its own.",
            CPU,
            "End the other programs, or load the target from another machine; then run it again.",
        )
    return Said(
        f"{statement}.",
        CPU,
        "What shares these cores waits for the others; give the target cores of its own, or more of them.",
    )


@said.register
def full_cpu(finding: FullCpu) -> Said:
    why = ""
    if finding.processes:
        runs = "its process runs" if finding.processes == 1 else "each of its processes runs"
        why = f", which is all if {runs} one thread at a time"
    return Said(
        f"{lead(finding.subject)}the CPU of {finding.source} is full{_from(finding.level)}: {_busy(finding)}"
        f"{_before(finding)}{why}.",
        CPU,
        "A profile (perf, py-spy) tells what it does; more processes or cores move the limit.",
    )


def _from(level: Level | None) -> str:
    return f" from {level} on" if level is not None else ""


def _busy(finding: FullMachine | FullCpu) -> str:
    return f"{_cores(finding.busy_cores)} of {counted(finding.cores, 'core')}"


def _before(finding: FullMachine | FullCpu) -> str:
    return f", {_cores(finding.before[0])} at {finding.before[1]}" if finding.before is not None else ""


def _cores(value: float) -> str:
    return number(round(value, 2))


@said.register
def queue(finding: Queue) -> Said:
    lowest = finding.lowest_level
    below = f", {number(round(lowest, 2))} at {finding.first_level}" if lowest is not None else ""
    source, name = finding.series
    return Said(
        f"{lead(finding.subject)}{source}: {name} is {number(round(finding.mean, 2))} on average{at(finding.level)} "
        f"(at most {number(finding.most)}){below}.",
        WAITS,
        "Something has fewer places than there are requests for it: a pool, a lock, a queue. Its size, or how long "
        "each one stays, is what to change.",
    )


@said.register
def work(finding: ChangedWork) -> Said:
    kind, source, name = finding.work
    shown = name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"
    if finding.levels is None:
        first, last = f" in {finding.where.against}", f" in {finding.where.variant}"
    else:
        first, last = map(at, finding.levels)
    before, after = finding.ms
    rows = ""
    if finding.rows is not None:
        rows = f"; it has {number(finding.rows[1])} rows each time and not {number(finding.rows[0])}"
    return Said(
        f"{lead(finding.subject)}“{shown}” of {source} takes {ms(before)}{first} and {ms(after)}{last} "
        f"({change(finding.ratio)}), {percent(finding.share)} of the time of all {KINDS[kind]} there{rows}.",
        WORK,
        ""
        if rows or finding.ratio < 1
        else "The same rows take longer: it waits for a core, a lock or a disk, or reads more to find them (EXPLAIN).",
    )
